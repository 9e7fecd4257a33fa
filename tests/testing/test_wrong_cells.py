"""The contract suite refuses cells, task heads and parsers that are wrong where tests seldom look,
and its advice names the cause."""

import pytest
import wrong_heads
from bad_cells import Good
from wrong_batches import BATCHES
from wrong_memory import MEMORY
from wrong_numbers import NUMBERS
from wrong_torch import TORCH

from thinstack.testing import CELL_CHECKS, HEAD_CHECKS

HEADS = {
    "LogOfSoftmax": ("finite", "loss of", "logsumexp"),
    "NormAtZero": ("finite", "forward of rows of zeros", "norm"),
    "LossWithoutDevice": ("device_and_type", "loss on another device", "lies on the CPU"),
    "LargeBatches": ("many_rows", "forward depends on the number of rows"),
    "Caches": ("nothing_is_kept", "no cache by shape"),
    "ListOfParameters": ("weights_are_all", "forward of a copy with all saved weights"),
    "FourWide": ("other_sizes", "hidden_size = 1", "take every width from the arguments"),
    "Views": ("layouts", "forward of tensors that lie transposed", "reshape or flatten"),
}
OF_ANY_ARITY = {"FirstHundred", "GlobalMaximum"}
OF_ANY_ARITY |= {"ByteIndex", "LastChild", "OneEach", "OneType"}
CELLS = NUMBERS | BATCHES | TORCH | MEMORY


def cell_of(name):
    return type(name, (Good,), CELLS[name][2])


def check_refused(plugin, checks, check, named, options):
    """By the first check that fails, which is the one to mend."""
    names = list(checks)
    for name in names[: names.index(check)]:
        checks[name](plugin, options)
    with pytest.raises(AssertionError) as refused:
        checks[check](plugin, options)
    said = str(refused.value)
    assert said.startswith(f"{plugin.name}, {check}: ")
    assert [part for part in named if part not in said] == [], said


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize("name", CELLS)
def test_a_wrong_cell_is_refused_with_its_cause(name):
    check, named, _ = CELLS[name]
    options = {"arity": 0} if name in OF_ANY_ARITY else {}
    check_refused(cell_of(name), CELL_CHECKS, check, named, options)


@pytest.mark.parametrize("name", HEADS)
def test_a_wrong_head_is_refused_with_its_cause(name):
    check, *named = HEADS[name]
    check_refused(getattr(wrong_heads, name), HEAD_CHECKS, check, named, {})
