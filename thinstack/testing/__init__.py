"""Contract tests for plugins. A plugin's own tests run them over its cell or task head, under each
of its options:

    @pytest.mark.parametrize("check", CELL_CHECKS.values(), ids=CELL_CHECKS)
    def test_contract(check):
        check("my_cell.v1", {"option": 1})

HEAD_CHECKS are those of a task head. They need the extras `testing` and `cpu` (or `gpu`).
"""

from thinstack.testing.checks import CELL_CHECKS, HEAD_CHECKS, CellCheck, HeadCheck

__all__ = ["CELL_CHECKS", "HEAD_CHECKS", "CellCheck", "HeadCheck"]
