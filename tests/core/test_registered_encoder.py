"""An encoder of a third party: registered, trained for a step, exported."""

from importlib.metadata import EntryPoint

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
    for name in ("", "core.nowhere", "core.configured"):
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
