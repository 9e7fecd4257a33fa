"""The contract suite refuses cells, task heads and parsers that are wrong where tests seldom look,
and its advice names the cause."""

from typing import Any

import pytest
import torch
import wrong_batches
import wrong_heads
import wrong_memory
import wrong_numbers
import wrong_torch

from thinstack.testing import CELL_CHECKS, HEAD_CHECKS

ANY: dict[str, Any] = {"arity": 0}

NUMBERS: dict[str, tuple[str, ...]] = {
    "NormAtZero": ("finite", "leaf of rows of zeros, as unknown words are", "gives NaN where"),
    "NormOfState": ("finite", "compose of rows of zeros", "norm"),
    "EmptyRows": ("finite", "leaf of rows of zeros", "new_zeros"),
    "WhereTrap": ("finite", "rows of zeros", "gradient for `inputs` holds NaN", "torch.where"),
    "Logarithm": ("finite", "rows of zeros", "gradient for `inputs` holds NaN", "log"),
    "RootOfSum": ("finite", "rows of zeros", "gradient for `inputs` holds NaN", "sqrt"),
    "HalfPower": ("finite", "rows of zeros", "gradient for `inputs` holds NaN", "sqrt"),
    "SpreadOfRow": ("finite", "leaf of rows of zeros", "spread"),
    "CosineOfChildren": ("no_rows", "nodes without children is not finite", "norm"),
    "SpreadOfChildren": ("no_rows", "nodes without children is not finite", "spread"),
    "MaskedAttention": ("no_rows", "nodes without children is not finite", "softmax over no child"),
    "TinyEps": ("finite", "leaf of rows of zeros", "clamp(min=1e-6)"),
    "ByParameter": ("finite", "with the weights that it starts with", "inverses of what may be 0"),
    "AcosOfEntries": ("finite", "leaf of rows of ones", "infinite numbers"),
    "OwnSigmoid": ("finite", "times 100", "gradient for `inputs` holds NaN", "torch.sigmoid"),
    "OwnTanh": ("finite", "leaf of random rows times 100", "exp overflows above 88"),
    "OwnSoftplus": ("finite", "times 100", "softplus"),
    "OwnSoftmax": ("finite", "leaf of random rows times 100", "torch.softmax"),
    "GateOfNodes": ("finite", "compose of", "matrices 300 times as large", "exp overflows"),
    "GateOfInputs": ("finite", "asked for inner_size = 5, compose of", "exp overflows"),
    "Entropy": ("finite", "leaf of random rows times 100", "gives NaN"),
    "Logit": ("finite", "times 100", "gradient for `inputs` holds NaN", "logsigmoid"),
    "FifthPower": ("finite", "leaf of random rows times 1,000", "powers"),
}

BATCHES: dict[str, tuple[str, ...]] = {
    "InnerStatistics": ("rows_are_independent", "asked for inner_size = 5", "rows of `inputs`"),
    "BatchStatistics": ("rows_are_independent", "compose reads other rows", "LayerNorm"),
    "LargeBatches": ("many_rows", "compose depends on the number of rows", "do not branch on"),
    "HugeBatches": ("many_rows", "100 of 40000 by themselves", "do not branch on"),
    "Chunks": ("many_rows", "leaf depends on the number of rows", "nor cut rows into groups"),
    "Aligned": ("many_rows", "leaf depends on the number of rows: 8 of 2500", "do not branch on"),
    "Pairs": ("many_rows", "leaf depends on the number of rows: 2 of 2500", "do not branch on"),
    "FirstHundred": ("many_rows", "the order of the child states", "take all of them"),
    "FewEdges": ("many_rows", "the order of the child states", "take all of them"),
    "Positions": ("rows_are_independent", "row 1 of 6 by itself", "with where a row stands"),
    "FirstRow": ("rows_are_independent", "row 1 of 6 by itself", "with where a row stands"),
    "GlobalMaximum": ("rows_are_independent", "`children` of row 1 is large", "before exp"),
    "HalfIndex": ("many_rows", "compose depends on the number", "keep indices in int64"),
    "ByteIndex": ("many_rows", "out of bounds", "keep indices in int64"),
    "LastChild": ("rows_are_independent", "the order of the child states", "sum_by_owner"),
    "OneEach": ("rows_are_independent", "compose depends on the number of rows"),
    "NextNodes": ("rows_are_independent", "other rows of `children` than its own"),
    "FirstChildOnly": ("inputs_are_read", "children in place 1 change nothing"),
    "MostColumns": ("inputs_are_read", "column 4 of a leaf's inputs changes nothing"),
    "Quantised": ("rows_are_independent", "leaf reads other rows", "no mean, sum, maximum"),
    "ClipsGradients": ("many_rows", "the gradient of leaf for `inputs`", "let no backward mix"),
    "Squeezes": ("other_sizes", "hidden_size = 1", "the dimension that squeeze takes away"),
    "SqueezesWidth": ("other_sizes", "hidden_size = 1", "the dimension that squeeze takes away"),
    "Views": ("layouts", "leaf of tensors that lie transposed", "reshape or flatten"),
    "Strides": ("layouts", "leaf of tensors that lie transposed", "assume nothing of strides"),
    "FourWide": ("other_sizes", "hidden_size = 1", "take every width from the arguments"),
    "ThreeKinds": ("other_sizes", "kinds = 5", "index 5 is out of bounds"),
}

TORCH: dict[str, tuple[str, ...]] = {
    "NoDevice": ("device_and_type", "what torch.zeros made, (6, 4), lies on the CPU"),
    "IndexWithoutDevice": ("device_and_type", "what torch.arange made", "device=inputs.device"),
    "ListOfNumbers": ("device_and_type", "what torch.tensor made", "device=inputs.device"),
    "PlainAttribute": ("device_and_type", "the attribute 'scale'", "register_buffer"),
    "GlobalConstant": ("device_and_type", "a tensor of shape (1,) lies on the CPU"),
    "FromNumpy": ("device_and_type", "tensors of two devices", "register_buffer"),
    "OnTheHost": ("device_and_type", "`cpu` reads the numbers of a tensor"),
    "ResultOnTheHost": ("device_and_type", "what torch.zeros made", "inputs.new_zeros"),
    "MaskWithoutDevice": ("device_and_type", "tensors of two devices", "lies on the CPU"),
    "HardType": ("device_and_type", "what torch.zeros made", "has not the type of the inputs"),
    "ThereAndBack": ("device_and_type", "`float` turns float64 into torch.float32"),
    "ReadsNumber": ("device_and_type", "`item` reads the numbers of a tensor"),
    "DetachedInTraining": ("training_mode", "the gradients of compose", "take out detach"),
    "NeedsTwoRows": ("training_mode", "Expected more than 1 value per channel"),
    "SpreadOfBatch": ("training_mode", "compose of 1 rows in training mode is not finite"),
    "OneType": ("other_types", "autocast in bfloat16", "must have the same scalar type"),
    "MuchLost": ("other_types", "compose under autocast in bfloat16, and in float32"),
    "QuickWithoutGradients": ("many_rows", "with a graph for gradients, and without"),
    "RoughSingles": ("other_types", "leaf of 6 rows in float32, and in float64"),
}

MEMORY: dict[str, tuple[str, ...]] = {
    "Caches": ("built_as_asked", "it cannot be copied after a call", "no cache"),
    "CachesByAddress": ("built_as_asked", "it cannot be copied after a call", "no cache"),
    "CachesNumbers": ("nothing_is_kept", "leaf after a call on other rows", "no cache by shape"),
    "KeepsProduct": ("nothing_is_kept", "after the weights have changed", "no product of weights"),
    "CountsInBuffer": ("nothing_is_kept", "compose changes 'calls' in evaluation mode"),
    "TrainingLeaves": ("nothing_is_kept", "compose after a call in training mode"),
    "Seeds": ("nothing_is_kept", "leaf in evaluation mode draws", "never seed"),
    "SeedsInTraining": ("nothing_is_kept", "training it seeds", "take out manual_seed"),
    "SeedsAtStart": ("nothing_is_kept", "creating it seeds", "take out manual_seed"),
    "DoubleByDefault": ("built_as_asked", "changes torch for everybody", "torch.float64"),
    "NoMoreGradients": ("built_as_asked", "changes torch for everybody", "False"),
    "PlainMatrix": ("weights_are_all", "a copy with all saved weights", "register_buffer"),
    "ListOfParameters": ("weights_are_all", "a copy with all saved weights", "nn.ParameterList"),
    "RareNoise": ("nothing_is_kept", "leaf in evaluation mode draws", "in training mode only"),
    "OverwritesInTraining": ("inputs_are_kept", "leaf overwrites inputs in training mode"),
    "OverwritesOne": ("inputs_are_kept", "leaf overwrites inputs", "trailing underscore"),
    "Unfilled": ("built_as_asked", "parameter 'b' has no finite values"),
    "HoldsOn": ("nothing_is_kept", "compose holds on to result 0", "no list of what came"),
    "WantsGradients": ("inputs_are_kept", "leaf turns requires_grad on"),
    "DrawnByNumpy": ("weights_are_all", "parameter 'b' starts otherwise from the same seed"),
    "NoiseOfNumpy": ("built_as_asked", "random numbers of Python or NumPy", "draw by torch"),
    "SeedsPython": ("built_as_asked", "random numbers of Python or NumPy", "draw by torch"),
    "Deterministic": ("nothing_is_kept", "deterministic algorithms was 0, and is 2"),
    "Precise": ("built_as_asked", "the precision of products was highest, and is medium"),
    "Anomalies": ("built_as_asked", "detection of anomalies was False, and is True"),
    "SharesWeights": ("weights_are_all", "two of it share the parameter 'scale'"),
}

HEADS: dict[str, tuple[str, ...]] = {
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

OF_ANY_ARITY = {"SpreadOfChildren", "FirstHundred", "FewEdges", "GlobalMaximum", "HalfIndex"}
OF_ANY_ARITY |= {"ByteIndex", "LastChild", "OneEach", "OneType"}

CASES = [
    *((getattr(wrong_numbers, name), CELL_CHECKS, *found) for name, found in NUMBERS.items()),
    *((getattr(wrong_batches, name), CELL_CHECKS, *found) for name, found in BATCHES.items()),
    *((getattr(wrong_torch, name), CELL_CHECKS, *found) for name, found in TORCH.items()),
    *((getattr(wrong_memory, name), CELL_CHECKS, *found) for name, found in MEMORY.items()),
    *((getattr(wrong_heads, name), HEAD_CHECKS, *found) for name, found in HEADS.items()),
]


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize(
    ("case"), CASES, ids=[f"{c[0].plugin_kind}-{c[0].__name__}" for c in CASES]
)
def test_a_wrong_plugin_is_refused_with_its_cause(case: Any) -> None:
    """By the first check that fails, which is the one to mend."""
    plugin, checks, check, *named = case
    options = ANY if plugin.plugin_kind == "cell" and plugin.__name__ in OF_ANY_ARITY else {}
    names = list(checks)
    for name in names[: names.index(check)]:
        checks[name](plugin, options)
    with pytest.raises(AssertionError) as refused:
        checks[check](plugin, options)
    said = str(refused.value)
    assert said.startswith(f"{plugin.name}, {check}: ")
    assert [part for part in named if part not in said] == [], said


def test_every_wrong_plugin_is_tried() -> None:
    for module, named in (
        (wrong_numbers, NUMBERS),
        (wrong_batches, BATCHES),
        (wrong_torch, TORCH),
        (wrong_memory, MEMORY),
        (wrong_heads, HEADS),
    ):
        there = {name for name, each in vars(module).items() if hasattr(each, "plugin_kind")}
        assert there - {"Good"} == set(named)


def test_settings_of_torch_are_set_back() -> None:
    before = torch.get_num_threads()
    for name in ("DoubleByDefault", "NoMoreGradients"):
        with pytest.raises(AssertionError):
            CELL_CHECKS["built_as_asked"](getattr(wrong_memory, name))
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()
    assert torch.get_num_threads() == before
