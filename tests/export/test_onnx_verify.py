"""Verification passes for a faithful file and for no other."""

import json

import numpy as np
import onnx
import pytest
import torch
from export_models import Exported, X, make_config, make_model, randomised
from onnx import numpy_helper
from torch import Tensor

from thinstack.config import ModelConfig
from thinstack.core.forest import Forest, join
from thinstack.errors import BundleError, ExportError, MissingExtraError
from thinstack.export.onnx import verify as onnx_verify
from thinstack.export.onnx.model import export_int8
from thinstack.export.onnx.verify import VerificationReport, export_verified_onnx, verify_onnx
from thinstack.export.quantize import dequantised
from thinstack.export.samples import eager_scores, sample_trees, sampled
from thinstack.plugins.cells.nary_lstm import NaryLSTM

BRANCH = np.array([0, 0, 1])


def test_report(exported: Exported) -> None:
    report = verify_onnx(exported.file, exported.model, exported.config)
    assert [runtime.runtime for runtime in report.runtimes] == ["onnxruntime", "onnx.reference"]
    for runtime in report.runtimes:
        assert 0 <= runtime.mean_error <= runtime.max_error < 5e-6
    # No tree, one word, 2, 7 and 64 words in four shapes each, batches of 3 and 32; 512 words for
    # the fast runtime.
    assert [runtime.cases for runtime in report.runtimes] == [20, 16]
    assert [runtime.trees for runtime in report.runtimes] == [52, 48]
    assert report.runtimes[0].nodes > report.runtimes[1].nodes > 4 * (3 + 13 + 127)
    assert report.neighbour_error < 1e-6
    assert (report.opset, report.ir_version, report.provider) == (18, 8, "CPUExecutionProvider")
    assert {"Loop", "TopK", "Softmax"} <= set(report.operators)
    assert report.quantization == exported.quantize
    assert (report.max_deviation == 0) == (exported.quantize == "none")
    assert report.mean_deviation <= report.max_deviation < 0.1
    if exported.quantize != "none":
        inputs = join(sample_trees(exported.model, [np.array([0])] * 500, np.random.default_rng(5)))
        rounded, plain = (
            eager_scores(dequantised(exported.model, q), inputs)
            for q in (exported.quantize, "none")
        )
        assert (
            0.1
            < np.abs(rounded["node_scores"] - plain["node_scores"]).mean() / report.mean_deviation
            < 10
        )
    assert report.development == ()
    assert (
        json.loads(json.dumps(report.to_dict()))["runtimes"][0]["max_error"]
        == report.runtimes[0].max_error
    )


def test_a_model_of_two_directions(verified: tuple[Exported, VerificationReport]) -> None:
    exported, report = verified
    assert [(runtime.cases, runtime.trees) for runtime in report.runtimes] == [(20, 52), (16, 48)]
    assert max(runtime.max_error for runtime in report.runtimes) < 1e-5
    model = onnx.load_from_string(exported.file)
    stored = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(stored["verification"]) == json.loads(json.dumps(report.to_dict()))
    # The depths of the trees, upwards, downwards.
    assert [node.op_type for node in model.graph.node].count("Loop") == 3


def test_a_model_of_pairs(pairs: Exported) -> None:
    report = verify_onnx(pairs.file, pairs.model, pairs.config)
    # Each tree has another beside it.
    assert [(runtime.cases, runtime.trees) for runtime in report.runtimes] == [
        (20, 2 * 52),
        (16, 2 * 48),
    ]
    assert max(runtime.max_error for runtime in report.runtimes) < 1e-5
    assert 0 < report.max_deviation < 0.1


def test_a_model_that_parses(parser: Exported) -> None:
    report = verify_onnx(parser.file, parser.model, parser.config)
    # Sentences of each of the sizes as well, and 6 of 1 to 200 words, whose trees the model makes.
    assert [(runtime.cases, runtime.trees) for runtime in report.runtimes] == [
        (20 + 8, 52 + 1 + 4 + 3 + 32 + 6),
        (16 + 7, 48 + 1 + 3 + 3 + 32 + 6),
    ]
    assert max(runtime.max_error for runtime in report.runtimes) < 1e-5
    assert report.neighbour_error < 1e-6
    assert 0 < report.mean_deviation < report.max_deviation < 0.1


def test_real_inputs_are_compared_as_well(words: Exported) -> None:
    generator = np.random.default_rng(0)
    forests = [np.array([0])] * 3, [BRANCH]
    development = [join(sample_trees(words.model, forest, generator)) for forest in forests]
    report = verify_onnx(words.file, words.model, words.config, development=development)
    assert [runtime.runtime for runtime in report.development] == ["onnxruntime", "onnx.reference"]
    for runtime in report.development:
        assert (runtime.cases, runtime.trees, runtime.nodes) == (2, 4, 6)
        assert runtime.mean_error <= runtime.max_error < 2e-6
    assert len(report.to_dict()["development"]) == 2


def test_a_fault_that_only_real_inputs_show_is_found(
    words: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_row_7(model: onnx.ModelProto) -> None:
        table = next(
            tensor for tensor in model.graph.initializer if tensor.name == "embedding.table"
        )
        values = numpy_helper.to_array(table).copy()
        values[7] = 0
        table.CopyFrom(numpy_helper.from_array(values, table.name))

    def real(*ids: int) -> list[Forest]:
        return [Forest(sizes=np.array([3]), token_ids=np.array(ids), transitions=BRANCH)]

    monkeypatch.setattr(onnx_verify, "sampled", lambda *_, **__: real(3, 4))
    file = tampered(words.file, lose_row_7)
    assert (
        verify_onnx(file, words.model, words.config, development=real(5, 6)).development[0].nodes
        == 3
    )
    with pytest.raises(ExportError, match="onnxruntime gives scores that differ by"):
        verify_onnx(file, words.model, words.config, development=real(6, 7))


def test_what_products_in_8_bits_cost_is_told_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the two files of a model, the one whose products are rounded too is further from it; the
    same copy stands for both."""
    monkeypatch.setattr(onnx_verify, "sampled", lambda model, **_: sampled(model, longest=7))
    config = make_config("words")
    model = randomised(make_model("words", NaryLSTM(input_size=X, hidden_size=20)), std=0.4)
    tables, products = (
        verify_onnx(file, model, config)
        for file in export_int8(model, config, vocabulary_digest="0")
    )
    assert (tables.quantization, products.quantization) == ("int8-tables", "int8")
    assert 0 < tables.max_deviation < products.max_deviation < 0.1
    assert tables.mean_deviation < products.mean_deviation


def tampered(file: bytes, change) -> bytes:
    model = onnx.load_from_string(file)
    change(model)
    return bytes(model.SerializeToString())


def nudge_a_weight(model: onnx.ModelProto) -> None:
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == "cell.u")
    values = numpy_helper.to_array(weight).copy()
    values[0, 0] += 0.01
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))


def poison_a_weight(model: onnx.ModelProto) -> None:
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == "head.linear.bias")
    weight.CopyFrom(numpy_helper.from_array(np.full(3, np.nan, np.float32), weight.name))


def swap_the_outputs(model: onnx.ModelProto) -> None:
    first, second = (
        next(n for n in model.graph.node if name in n.output)
        for name in ("node_scores", "root_scores")
    )
    first.output[0], second.output[0] = second.output[0], first.output[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            nudge_a_weight,
            r"onnxruntime gives scores that differ by 0\.0\d+ from the model's; allowed 1e-05",
        ),
        (poison_a_weight, r"weight 'head\.linear\.bias' holds NaN"),
        (
            swap_the_outputs,
            r"node_scores of shape \(1, 3\) where the model gives \(3, 3\), for 1 trees",
        ),
    ],
)
def test_a_changed_file_fails(words: Exported, change, message: str) -> None:
    with pytest.raises((ExportError, BundleError), match=message):
        verify_onnx(tampered(words.file, change), words.model, words.config)


def test_another_model_or_configuration_fails(words: Exported) -> None:
    with pytest.raises(ExportError, match="differ by"):
        verify_onnx(words.file, make_model("words", seed=1), words.config)
    with pytest.raises(ExportError, match=r"of another model: expected .*\['a', 'b', 'c'\]"):
        verify_onnx(words.file, words.model, make_config("words", labels="abc"))
    with pytest.raises(ExportError, match=r"of another model: .*'cell': 'other\.v1'"):
        verify_onnx(words.file, words.model, make_config("words", cell="other.v1"))
    with pytest.raises(ExportError, match=r"of another model: .*'trees': 'sequence'"):
        verify_onnx(words.file, words.model, make_config("words", trees="sequence"))

    def int4(model: onnx.ModelProto) -> None:
        next(entry for entry in model.metadata_props if entry.key == "quantization").value = "int4"

    with pytest.raises(
        ExportError, match="quantization 'int4'; expected one of none, fp16, int8-tables, int8"
    ):
        verify_onnx(tampered(words.file, int4), words.model, words.config)

    def forget(model: onnx.ModelProto) -> None:
        del model.metadata_props[:]

    with pytest.raises(ExportError, match="of another model: "):
        verify_onnx(tampered(words.file, forget), words.model, words.config)


def test_a_model_that_looks_at_its_batch_fails(
    words: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model("words")
    scores = model.head.scores

    def centred(outputs: Tensor) -> Tensor:
        return scores(outputs - outputs.mean(0))

    monkeypatch.setattr(model.head, "scores", centred)
    monkeypatch.setattr(onnx_verify, "dequantised", lambda model, quantize: model.eval())

    class EagerSession:
        """Runs the model itself, in place of its file."""

        def get_inputs(self) -> list[onnx.ValueInfoProto]:
            return words.session().get_inputs()

        def run(self, names: list[str], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            with torch.no_grad():
                return [
                    scores.numpy()
                    for scores in model(
                        {n: torch.from_numpy(a) for n, a in inputs.items()}
                    ).values()
                ]

    monkeypatch.setattr(onnx_verify, "_session", lambda file: (EagerSession(), "1"))
    monkeypatch.setattr(onnx_verify, "ReferenceEvaluator", lambda proto: EagerSession())
    with pytest.raises(
        ExportError, match=r"the scores of a tree change by .* with the trees beside it"
    ):
        verify_onnx(words.file, model, words.config)


def test_the_report_is_stored_in_the_file(
    words: Exported, verified: tuple[Exported, VerificationReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(model, config: ModelConfig, **options: str) -> bytes:
        assert options == {
            "quantize": "none",
            "index_type": "int64",
            "outputs": "nodes",
            "vocabulary_digest": "d",
        }
        return words.file

    with monkeypatch.context() as patch:
        patch.setattr(onnx_verify, "export_onnx", export)
        patch.setattr(onnx_verify, "verify_onnx", lambda *_, **__: verified[1])
        file, report = export_verified_onnx(
            words.model, words.config, index_type="int64", vocabulary_digest="d"
        )
    assert report is verified[1]
    found = {entry.key: entry.value for entry in onnx.load_from_string(file).metadata_props}
    assert json.loads(found["verification"]) == json.loads(json.dumps(report.to_dict()))
    assert found["cell"] == "nary_lstm.v1"
    verify_onnx(file, words.model, words.config)


def test_without_onnxruntime(words: Exported, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match="cpu"):
        verify_onnx(words.file, words.model, words.config)
