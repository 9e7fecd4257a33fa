"""Contract tests for plugins. A plugin's own tests run them over its cell, task head or
parser, under each of its options:

    @pytest.mark.parametrize("check", CELL_CHECKS.values(), ids=CELL_CHECKS)
    def test_contract(check):
        check("my_cell.v1", {"option": 1})

HEAD_CHECKS are those of a task head, PARSER_CHECKS those of a parser. They need the extras
`testing` and `cpu` (or `gpu`).
"""

from thinstack.testing.checks import (
    CELL_CHECKS,
    HEAD_CHECKS,
    PARSER_CHECKS,
    CellCheck,
    HeadCheck,
    ParserCheck,
)

__all__ = ["CELL_CHECKS", "HEAD_CHECKS", "PARSER_CHECKS", "CellCheck", "HeadCheck", "ParserCheck"]
