"""TorchScript files answer as the model does, in a process that knows nothing of thinstack."""

import io
import json
import zipfile

import numpy as np
import pytest
import torch
from bundle_folders import GOLDEN
from command_line import python
from export_models import TRACES, ChildSum, H, V, X, close, eager_scores, make_config, make_model
from plain_parts import PlainCell, plain_spinn
from torch import Tensor

from thinstack.bundle.weights import load_model
from thinstack.core.cell import Links
from thinstack.errors import ExportError
from thinstack.export import torchscript
from thinstack.export.torchscript import export_torchscript
from thinstack.plugins.build import build_model
from thinstack.plugins.cells.nary_lstm import NaryLSTM

LOAD_WARNING = "ignore:`torch.jit.load` is:DeprecationWarning"


@pytest.fixture(scope="module", params=["words", "wordpieces", "child sum"])
def scripted(request):
    kind = "wordpieces" if request.param == "wordpieces" else "words"
    model = make_model(kind, ChildSum() if request.param == "child sum" else None)
    file, report = export_torchscript(model)
    assert 0 <= report.mean_error <= report.max_error < 2e-6
    # No tree, one word, 2, 7, 64 and 512 words in four shapes each, batches of 3 and 32.
    assert (report.cases, report.trees, report.version) == (20, 1 + 16 + 3 + 32, torch.__version__)
    assert all(module.training for module in model.modules())
    return model, file


@pytest.mark.usefixtures("short_samples")
def test_it_needs_torch_alone(tmp_path):
    model = plain_spinn(PlainCell(2, inner=True))
    file, report = export_torchscript(model)
    assert (report.cases, report.max_error < 1e-5) == (12 + 6, True)
    (tmp_path / "model.pt").write_bytes(file)
    words, trees = {"token_ids": [3, 1, 4, 1, 5], "lengths": [4, 1]}, [[], [0, 0, 1, 0, 0, 1, 1, 0]]
    program = f"""
import sys, torch, json
sys.modules["thinstack"] = None
for trees in {trees}:
    inputs = {words} | {{"transitions": trees}}
    given = {{name: torch.tensor(x, dtype=torch.long) for name, x in inputs.items()}}
    found = torch.jit.load("model.pt")(given)
    print(json.dumps([{{name: x.tolist() for name, x in found.items()}},
                      any(x.requires_grad for x in found.values())]))
"""
    done = python(program, cwd=tmp_path)
    for line, steps in zip(done.stdout.splitlines(), trees, strict=True):
        given = words | {"transitions": steps}
        arrays = {name: np.array(values, np.int64) for name, values in given.items()}
        found, requires_grad = json.loads(line)
        assert not requires_grad
        expected = eager_scores(model, arrays)
        close({name: np.array(found[name]) for name in expected}, expected)


@pytest.mark.usefixtures("short_samples")
@pytest.mark.filterwarnings(LOAD_WARNING)
def test_scores_keep_no_gradient():
    """Freezing folds a part of a weight into a constant, which kept its gradient."""
    golden = GOLDEN / "wordpiece-parser"
    file, _ = export_torchscript(load_model(golden))
    case = json.loads((golden / "cases.json").read_text(encoding="utf-8"))["cases"][0]
    inputs = {name: torch.tensor(x, dtype=torch.long) for name, x in case["inputs"].items()}
    scores = torch.jit.load(io.BytesIO(file))(inputs)
    assert not any(x.requires_grad for x in scores.values())


@pytest.mark.usefixtures("short_samples")
def test_a_tracker_that_does_not_parse_is_loaded_again():
    """The parser that it has no use for must be gone from the file: torch saved what it could not
    load."""
    encoder = {"tracker": {"size": 4, "parses": False}}
    config = make_config("words", "spinn_lstm.v1", encoder=encoder)
    assert export_torchscript(build_model(config, entries=V))[1].max_error < 1e-5


def test_nothing_of_the_exporting_machine_is_in_the_file(scripted):
    with zipfile.ZipFile(io.BytesIO(scripted[1])) as archive:
        texts = [archive.read(name) for name in archive.namelist() if "constants/" not in name]
    for trace in (*TRACES, torchscript.__file__):
        assert not [text for text in texts if trace.encode() in text]


class Unscriptable(NaryLSTM):
    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [getattr(torch, name)(inputs[:, :H]) for name in ("tanh", "sigmoid")]


class Unsupported(NaryLSTM):
    """Of a kind of statement that the compiler knows nothing of, which it says by another error."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        try:
            return super().leaf(inputs)
        finally:
            pass


class Otherwise(NaryLSTM):
    """Does other things when scripted."""

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        scale = 1.0
        if torch.jit.is_scripting():
            scale = 1.001
        return [torch.tanh(children[0].sum(1)) * scale, children[1].sum(1)]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (Unscriptable, "a model with Unscriptable cannot be scripted: "),
        (Unsupported, "a model with Unsupported cannot be scripted: "),
        (Otherwise, "TorchScript's scores differ"),
    ],
)
def test_a_cell_that_cannot_be_scripted_is_refused(cell, message):
    with pytest.raises(ExportError, match=message):
        export_torchscript(make_model("words", cell(input_size=X, hidden_size=H)))


WORDS = {"token_ids": [1, 2, 3], "transitions": [0, 0, 1, 0, 1]}


@pytest.mark.usefixtures("short_samples")
@pytest.mark.filterwarnings(LOAD_WARNING)
def test_inputs_that_do_not_fit_are_refused_by_the_file_too():
    run = torch.jit.load(io.BytesIO(export_torchscript(make_model("words"))[0]))
    run({name: torch.tensor(values) for name, values in WORDS.items()})
    wrong = {"token_ids": [1, 2]}, {"transitions": [0, 1, 0, 0, 1]}
    for bad, message in zip(wrong, ("expected 3 words", "two nodes on the stack"), strict=True):
        with pytest.raises(torch.jit.Error, match=message):
            run({name: torch.tensor(values) for name, values in (WORDS | bad).items()})
