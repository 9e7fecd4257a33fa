"""The contract suite refuses cells that are wrong where tests seldom look, and its advice names the
cause."""

import pytest
import torch
from bad_cells import Good
from wrong_batches import BATCHES
from wrong_memory import MEMORY
from wrong_numbers import NUMBERS
from wrong_torch import TORCH

from thinstack.testing import CELL_CHECKS

OF_ANY_ARITY = {"SpreadOfChildren", "FirstHundred", "FewEdges", "GlobalMaximum", "HalfIndex"}
OF_ANY_ARITY |= {"ByteIndex", "LastChild", "OneEach", "OneType"}
CELLS = NUMBERS | BATCHES | TORCH | MEMORY


def cell_of(name):
    return type(name, (Good,), CELLS[name][2])


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize("name", CELLS)
def test_a_wrong_cell_is_refused_with_its_cause(name):
    """By the first check that fails, which is the one to mend."""
    check, named, _ = CELLS[name]
    cell, options = cell_of(name), {"arity": 0} if name in OF_ANY_ARITY else {}
    names = list(CELL_CHECKS)
    for before in names[: names.index(check)]:
        CELL_CHECKS[before](cell, options)
    with pytest.raises(AssertionError) as refused:
        CELL_CHECKS[check](cell, options)
    said = str(refused.value)
    assert said.startswith(f"{cell.name}, {check}: ")
    assert [part for part in named if part not in said] == [], said


def test_settings_of_torch_are_set_back():
    before = torch.get_num_threads()
    for name in ("DoubleByDefault", "NoMoreGradients"):
        with pytest.raises(AssertionError):
            CELL_CHECKS["built_as_asked"](cell_of(name))
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()
    assert torch.get_num_threads() == before
