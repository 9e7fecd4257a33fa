"""Contract tests for plugins. A plugin's own tests run them over its cell, under each of its options:

    @pytest.mark.parametrize("check", CELL_CHECKS.values(), ids=CELL_CHECKS)
    def test_contract(check):
        check("my_cell.v1", {"option": 1})

They need the extras `testing` and `cpu` (or `gpu`).
"""

from thinstack.testing.cells import CELL_CHECKS, CellCheck

__all__ = ["CELL_CHECKS", "CellCheck"]
