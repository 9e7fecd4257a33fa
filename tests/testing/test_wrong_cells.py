"""The contract suite refuses cells, task heads and parsers that are wrong where tests seldom look,
and its advice names the cause."""

import bad_heads
import bad_parsers
import pytest
import torch
from bad_cells import Good
from wrong_batches import BATCHES
from wrong_memory import MEMORY
from wrong_numbers import NUMBERS
from wrong_torch import TORCH

from thinstack.testing import CELL_CHECKS, HEAD_CHECKS, PARSER_CHECKS

HEADS = {
    "WrongSize": ("built_as_asked", "classes is 4 where 3 was asked for"),
    "WrongWidth": ("built_as_asked", "forward of shapes {'rows': [(6, 4)]} raises RuntimeError"),
    "ReadsElse": ("built_as_asked", "reads is 'words'"),
    "Overwrites": ("inputs_are_kept", "loss overwrites labels"),
    "Mean": ("loss_is_a_sum", "no sum over rows"),
    "CountsUnlabelled": ("unlabelled_rows", "rows labelled -1 count"),
    "NoGradient": ("unlabelled_rows", "no gradient with respect to the scores"),
    "Shares": ("soft_labels", "of soft labels and of the labels that they are made of"),
    "Normalises": ("few_rows", "forward of shapes {'rows': [(1, 4)]} raises ValueError"),
    "CountsRows": ("rows_are_independent", "forward depends on the number of rows"),
    "Detached": ("gradients", "the gradient of forward "),
    "Unscriptable": ("torchscript", "squash"),
    "OtherwiseScripted": ("torchscript", "the scores of 7 rows: results differ"),
    "BranchesOnValues": ("device_and_type", "`__bool__` reads the numbers"),
    "OtherwiseExported": ("onnx", "the scores of 7 rows: results differ"),
    "OwnSoftmax": ("finite", "scores of", "torch.softmax"),
    "LogOfSoftmax": ("finite", "loss of", "logsumexp"),
    "NormAtZero": ("finite", "forward of rows of zeros", "norm"),
    "NoDevice": ("device_and_type", "what torch.ones made, (3,), lies on the CPU"),
    "LossWithoutDevice": ("device_and_type", "loss on another device", "lies on the CPU"),
    "HardType": ("device_and_type", "`float` turns float64 into torch.float32"),
    "LargeBatches": ("many_rows", "forward depends on the number of rows"),
    "BatchStatistics": ("rows_are_independent", "forward reads other rows"),
    "Caches": ("nothing_is_kept", "no cache by shape"),
    "ListOfParameters": ("weights_are_all", "forward of a copy with all saved weights"),
    "FourWide": ("other_sizes", "hidden_size = 1", "take every width from the arguments"),
    "Views": ("layouts", "forward of tensors that lie transposed", "reshape or flatten"),
    "Dropout": ("nothing_is_kept", "forward in evaluation mode draws"),
}
PARSERS = {
    "WrongSize": ("distances_of_all_words", "input_size is 6 where 5 was asked for"),
    "NoDevice": ("device_and_type", "what torch.zeros made, (20,), lies on the CPU"),
    "NormAtZero": ("finite_distances", "forward of rows of zeros"),
    "Overflows": ("finite_distances", "softplus"),
    "LongSentences": ("sentences_are_apart", "of [700, 1, 300] words, and alone"),
    "GapsOnly": ("distances_of_all_words", "of 20 words of torch.float32 gives (19,)"),
    "NeedsWords": ("no_words", "max()"),
    "Overwrites": ("words_are_kept", "overwrites its arguments"),
    "ReadsOthers": ("sentences_are_apart", "sentence 2 of [5, 1, 12, 2] words, and alone"),
    "Unused": ("parameters_are_used", "'rest'"),
    "Unscriptable": ("torchscript", "cannot compile the parser"),
    "OtherwiseScripted": ("torchscript", "of [5, 1, 12, 2] words: results differ"),
    "OtherwiseExported": ("onnx", "of [5, 1, 12, 2] words: results differ"),
}
OF_ANY_ARITY = {"SpreadOfChildren", "FirstHundred", "FewEdges", "GlobalMaximum", "HalfIndex"}
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
    check_refused(getattr(bad_heads, name), HEAD_CHECKS, check, named, {})


@pytest.mark.parametrize("name", PARSERS)
def test_a_wrong_parser_is_refused_with_its_cause(name):
    check, *named = PARSERS[name]
    check_refused(getattr(bad_parsers, name), PARSER_CHECKS, check, named, {})


def test_settings_of_torch_are_set_back():
    before = torch.get_num_threads()
    for name in ("DoubleByDefault", "NoMoreGradients"):
        with pytest.raises(AssertionError):
            CELL_CHECKS["built_as_asked"](cell_of(name))
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()
    assert torch.get_num_threads() == before
