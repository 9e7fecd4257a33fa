"""`.pt2` files answer as the definitions do, for trees of any size, in a process that knows nothing
of thinstack."""

import copy
import io
import json
import logging
import subprocess
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from export_models import (
    LABELS,
    ChildSum,
    H,
    V,
    X,
    make_config,
    make_model,
    random_inputs,
    random_tree,
    randomised,
)
from recursion import slow_scores, slow_sentences
from torch import Tensor, nn

from thinstack.config import ModelConfig
from thinstack.core import transitions as shapes
from thinstack.core.cell import Links
from thinstack.core.embedding import Embedding
from thinstack.core.head import TaskHead
from thinstack.errors import ExportError
from thinstack.export import pt2
from thinstack.export.pt2 import export_pt2
from thinstack.export.samples import join_inputs, sample_trees, sampled, without_trees
from thinstack.models import Model, SpinnModel, build_model
from thinstack.plugins.cells.nary_lstm import NaryLSTM

DOWN = {"name": "top_down_lstm.v1", "hidden_size": H - 1}
ENTAILMENT = {"name": "entailment.v1", "options": {"width": 7}}
MODELS: dict[str, dict[str, Any]] = {
    "bidirectional candidates": {
        "cell": "lexicalized_lstm.v1",
        "trees": "binary",
        "encoder": {"top_down": DOWN},
        "head": {"name": "tree_ranker.v1"},
    },
    "dependency pairs": {
        "cell": "sdt_rnn.v1",
        "trees": "dependency",
        "relations": ["nsubj", "det"],
        "head": ENTAILMENT,
    },
    "constituency": {"cell": "nary_lstm.v1", "arity": 3, "trees": "constituency"},
    "sequence": {
        "cell": "nary_lstm.v1",
        "arity": 1,
        "trees": "sequence",
        "encoder": {"layers": 2, "top_down": "shared", "separate": True, "readout": ["down", "up"]},
    },
    "parser": {
        "cell": "spinn_lstm.v1",
        "encoder": {"tracker": {"size": 4, "lookahead": 2}},
        "tree_source": "self",
    },
    "spinn": {
        "cell": "spinn_lstm.v1",
        "encoder": {"tracker": {"size": 4, "parses": False}},
        "head": ENTAILMENT,
    },
}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verify on small trees only."""
    monkeypatch.setattr(pt2, "sampled", partial(sampled, longest=7))


def build(name: str) -> Model:
    torch.manual_seed(0)
    settings = dict(MODELS[name])
    options = {"arity": settings.pop("arity")} if "arity" in settings else {}
    cell = {"name": settings.pop("cell"), "hidden_size": H, "options": options}
    embedding = {"kind": "wordpieces" if name == "parser" else "words", "size": X}
    parts = {
        "labels": LABELS,
        "embedding": embedding,
        "cell": cell,
        "head": {"name": "node_classifier.v1"},
        **settings,
    }
    return randomised(build_model(ModelConfig.parse(parts, source=name), entries=V), std=0.4)


def load(file: bytes) -> Any:
    return torch.export.load(io.BytesIO(file)).module()


def tensors(inputs: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(values) for name, values in inputs.items()}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("few")
def test_every_kind_of_model(name: str, caplog: pytest.LogCaptureFixture) -> None:
    model = build(name)
    file, report = export_pt2(model)
    assert 0 <= report.mean_error <= report.max_error < 2e-6
    run = load(file)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    random, exact = np.random.default_rng(0), copy.deepcopy(model).double().eval()
    none = {key: np.zeros(0, np.int64) for key in model.input_names}
    for forest in (
        [],
        [shapes.left(1)],
        [shapes.balanced(11), shapes.left(1), random_tree(9, 0), shapes.right(4)],
    ):
        inputs = join_inputs([none, *sample_trees(model, forest, random)])
        for given in (inputs, without_trees(inputs)) if model.parses else (inputs,):
            found = run(tensors(given))
            assert sorted(found) == sorted(model.output_names)
            assert not any(values.requires_grad for values in found.values())
            expected = _recursion(exact, given) if forest else {}
            assert set(expected) in (set(), set(found))
            for key, wanted in expected.items():
                assert found[key].shape == wanted.shape
                np.testing.assert_allclose(
                    found[key].numpy(), wanted, rtol=0, atol=1e-5, err_msg=key
                )
            assert expected or not sum(len(values) for values in found.values())


def _recursion(model: Model, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    if not isinstance(model, SpinnModel):
        return slow_scores(model, inputs)
    lengths = inputs["lengths"] if model.parses else _lengths(inputs["transitions"])
    return slow_sentences(model, inputs, lengths)


def _lengths(transitions: np.ndarray) -> list[int]:
    """The words of each sentence, by hand: where a stack of the trees so far grows for good."""
    found: list[int] = []
    for step in transitions.tolist():
        found = [*found[:-2], found[-2] + found[-1]] if step else [*found, 1]
    return found


def test_it_is_verified_on_many_sizes() -> None:
    model = make_model("words", ChildSum())
    _, report = export_pt2(model)
    # No tree, one word, 2, 7, 64 and 512 words in four shapes each, batches of 3 and 32.
    assert (report.cases, report.trees, report.version) == (20, 1 + 16 + 3 + 32, torch.__version__)
    assert all(module.training for module in model.modules())
    assert all(weight.requires_grad for weight in model.parameters())


class Chained(NaryLSTM):
    """Reads the children's memory through a layer and a tensor that is a plain attribute."""

    def __init__(self) -> None:
        super().__init__(input_size=X, hidden_size=H)
        self.layer, self.scale = nn.Linear(H, H), torch.tensor(0.5)

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        return super().compose(inputs, [children[0], self.layer(children[1]) * self.scale], links)


@pytest.fixture(scope="module")
def words() -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pt2, "sampled", partial(sampled, longest=7))
        return export_pt2(make_model("words", Chained()))[0]


@pytest.fixture(scope="module")
def loaded(words: bytes) -> Any:
    return load(words)


def test_it_needs_torch_alone(words: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.pt2").write_bytes(words)
    inputs = random_inputs("words", [random_tree(30, 1), [0]], 4)
    program = (
        "import sys, torch; sys.modules['thinstack'] = None\n"
        f"inputs = { ({name: values.tolist() for name, values in inputs.items()}) }\n"
        "run = torch.export.load('model.pt2').module()\n"
        "found = run({name: torch.tensor(values) for name, values in inputs.items()})\n"
        "import json; print(json.dumps({name: scores.tolist() for name, scores in found.items()}))"
    )
    command = [sys.executable, "-W", "error", "-c", program]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not run.stderr
    found = json.loads(run.stdout)
    for name, wanted in slow_scores(make_model("words", Chained()).double().eval(), inputs).items():
        np.testing.assert_allclose(found[name], wanted, rtol=0, atol=1e-5)


def test_nothing_of_the_exporting_machine_is_in_the_file(words: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(words)) as archive:
        texts = [archive.read(name) for name in archive.namelist()]
    assert any(b"aten.index_copy_" in text for text in texts)
    for trace in (
        str(Path(__file__).parents[2]),
        tempfile.gettempdir(),
        "/home",
        "site-packages",
        ".py",
        "stack_trace",
        "def ",
    ):
        assert not [text for text in texts if trace.encode() in text]


@pytest.mark.parametrize(
    ("ids", "transitions", "message"),
    [
        (2, [0, 1], "make whole trees"),
        (2, [0, 0, 1, 1], "make whole trees"),
        (2, [0, 0, 2], "make whole trees"),
        (3, [0, 0, 1], "one word for each leaf"),
        (1, [0, 0, 1], "one word for each leaf"),
    ],
)
def test_what_is_no_tree_is_refused(
    loaded: Any, ids: int, transitions: list[int], message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        loaded(
            {
                "token_ids": torch.zeros(ids, dtype=torch.long),
                "transitions": torch.tensor(transitions),
            }
        )


class Branching(NaryLSTM):
    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        if inputs.shape[0] > 4:
            children = [2 * part for part in children]
        return super().compose(inputs, children, links)


class Looping(NaryLSTM):
    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [
            torch.cat(parts)
            for parts in zip(*(super(Looping, self).leaf(row[None]) for row in inputs), strict=True)
        ]


class Failing(NaryLSTM):
    def output(self, state: list[Tensor]) -> Tensor:
        raise NotImplementedError("not today")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            Branching,
            (
                r"Branching\.compose cannot be exported to .pt2: its Python code depends on .* the "
                r"number of rows"
            ),
        ),
        (
            Looping,
            (
                r"Looping\.leaf cannot be exported to .pt2: its Python code depends on .* the number "
                r"of rows"
            ),
        ),
        (Failing, r"Failing\.output cannot be exported to .pt2: NotImplementedError: not today"),
    ],
)
def test_a_part_that_cannot_be_exported_is_named(cell: type[NaryLSTM], message: str) -> None:
    with pytest.raises(ExportError, match=message):
        export_pt2(make_model("words", cell(input_size=X, hidden_size=H)))


class Counting(TaskHead):
    def scores(self, rows: Tensor) -> Tensor:
        return rows[:, : self.classes] * (2 if rows.shape[0] > 4 else 1)


class Capped(Embedding):
    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        ids = inputs["token_ids"]
        return self.table.index_select(0, ids) * (2 if ids.shape[0] > 4 else 1)


class Otherwise(NaryLSTM):
    """Does other things when exported."""

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        state = super().compose(inputs, children, links)
        return [state[0] * 1.01, state[1]] if torch.compiler.is_exporting() else state


def test_a_head_and_an_embedding_that_cannot_be_exported_are_named() -> None:
    model = make_model("words")
    model.head = Counting(hidden_size=H, classes=3)
    with pytest.raises(
        ExportError,
        match=r"Counting\.scores cannot be exported to .pt2: its Python code depends on",
    ):
        export_pt2(model)
    model.embedding = Capped(table_size=(V, X), size=X, index_names=["token_ids"])
    with pytest.raises(
        ExportError, match=r"Capped\.forward cannot be exported to .pt2: its Python code depends on"
    ):
        export_pt2(model)


@pytest.mark.usefixtures("few")
def test_scores_that_differ_are_refused() -> None:
    with pytest.raises(ExportError, match=r"torch\.export gives scores that differ by"):
        export_pt2(make_model("words", Otherwise(input_size=X, hidden_size=H)))


def test_a_beam_is_refused() -> None:
    torch.manual_seed(0)
    config = make_config(
        "words", "spinn_lstm.v1", encoder={"tracker": {"size": 4, "beam": 2}}, tree_source="self"
    )
    with pytest.raises(ExportError, match="keeps one hypothesis of a tree, the model 2"):
        export_pt2(build_model(config, entries=V))
