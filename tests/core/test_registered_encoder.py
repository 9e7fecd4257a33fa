"""An encoder of a third party: registered, trained for a step, exported."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
import torch
from core.configured import config_of
from core.running_mean import RunningMean

from thinstack.errors import ConfigError, ExportError
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import export_verified_onnx
from thinstack.export.torchscript import export_torchscript
from thinstack.plugins import build
from thinstack.plugins.build import build_model
from thinstack.plugins.manager import PluginManager

LENGTHS = [3, 1, 4]
NAMED = {"name": "running_mean.v1", "options": {"scale": 0.5}}


@pytest.fixture(scope="module", autouse=True)
def plugins():
    point = EntryPoint("running_mean", "core.running_mean:RunningMean", "thinstack")
    found = PluginManager(entry_points=[point])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "manager", lambda: found)
        yield found


def config(encoder=NAMED, head="node_classifier.v1", **fields):
    fields = {"trees": "sequence", "tree_source": "left", "encoder": encoder} | fields
    return config_of({}, {"name": head}, **fields)


def model_of(settings):
    torch.manual_seed(0)
    model = build_model(settings, entries=9)
    torch.nn.init.normal_(model.embedding.table)
    return model.eval()


def batch():
    ids = np.random.default_rng(0).integers(0, 9, sum(LENGTHS))
    return {"token_ids": torch.from_numpy(ids), "lengths": torch.tensor(LENGTHS)}


def test_the_model_reads_its_outputs():
    model, inputs = model_of(config()), batch()
    assert model.input_names == ["token_ids", "lengths"]
    words = model.embedding.table[inputs["token_ids"]].detach().numpy().astype(np.float64)
    sentences = np.split(words, np.cumsum(LENGTHS)[:-1])
    means = [part[: k + 1].mean(0) for part in sentences for k in range(len(part))]
    outputs = np.tanh(np.stack(means) @ model.encoder.weight.detach().numpy())
    linear = model.head.linear
    logits = outputs @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()
    np.testing.assert_allclose(model.joint(inputs).logits.detach().numpy(), logits, atol=1e-5)
    scores = torch.softmax(torch.from_numpy(logits), 1)
    found = model(inputs)
    np.testing.assert_allclose(found["node_scores"].detach().numpy(), scores, atol=1e-6)
    np.testing.assert_allclose(found["root_scores"].detach().numpy(), scores[[2, 3, 7]], atol=1e-6)


@pytest.mark.parametrize(
    ("head", "outputs"),
    [("node_classifier.v1", "nodes"), ("node_classifier.v1", "roots"), ("similarity.v1", "nodes")],
)
def test_onnx(head, outputs):
    settings = config(head=head)
    model = model_of(settings)
    _, report = export_verified_onnx(model, settings, outputs=outputs, vocabulary_digest="")
    assert [runtime.runtime for runtime in report.runtimes] == ["onnxruntime", "onnx.reference"]
    assert max(runtime.max_error for runtime in report.runtimes) < 1e-5


def test_torchscript():
    assert export_torchscript(model_of(config()))[1].max_error < 1e-5


def test_without_a_module_that_exports_it(monkeypatch):
    model = model_of(config())
    for name in ("", "core.nowhere", "core.running_mean"):
        monkeypatch.setattr(RunningMean, "onnx", name)
        with pytest.raises(ExportError, match=f"RunningMean .*{name!r}"):
            export_onnx(model, config(), vocabulary_digest="")


@pytest.mark.parametrize(
    ("encoder", "trees", "found"),
    [
        ({**NAMED, "layers": 2}, "sequence", "layers"),
        ({**NAMED, "tracker": {"size": 2}}, "sequence", "tracker"),
        ({"options": {"scale": 2}}, "sequence", "options"),
        ({**NAMED, "options": {"scales": 2}}, "sequence", "scales"),
        (NAMED, "binary", r"running_mean\.v1 .*'binary'"),
    ],
)
def test_settings_that_it_does_not_take(encoder, trees, found):
    with pytest.raises(ConfigError, match=found):
        build_model(config(encoder, trees=trees), entries=9)
