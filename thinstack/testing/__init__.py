"""Contract tests for plugins. The tests of a plugin run them on its cell, task head or parser, with
each set of options:

    @pytest.mark.parametrize("check", CELL_CHECKS.values(), ids=CELL_CHECKS)
    def test_contract(check):
        check("my_cell.v1", {"option": 1})

HEAD_CHECKS check a task head, PARSER_CHECKS a parser. They need the extras `testing` and `cpu` (or
`gpu`).
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
