"""The README's code runs as it stands."""

import linecache
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from models.configured import config_of

from thinstack.core import Tree
from thinstack.export.onnx.verify import export_verified_onnx
from thinstack.export.torchscript import export_torchscript
from thinstack.models import Model
from thinstack.models.tree_encoder import Layer, TreeEncoder
from thinstack.plugins.embeddings.words import WordEmbedding
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.plugins.specs import CellSpec

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


def run(word: str) -> dict[str, Any]:
    """Run the one block that holds `word`; returns its names."""
    (block,) = [block for block in BLOCKS if word in block]
    name = f"<README, {word}>"
    # TorchScript reads the source.
    linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)
    found: dict[str, Any] = {"__name__": "readme"}
    exec(compile(block, name, "exec"), found)
    return found


def test_every_block_is_run_here() -> None:
    assert len(BLOCKS) == 4


def test_spacy(capsys: pytest.CaptureFixture[str]) -> None:
    found = run("add_pipe")
    doc = found["doc"]
    assert sum(doc.cats.values()) == pytest.approx(1, abs=1e-5)
    assert [len(sentence.text) > 0 for sentence in doc.sents] == [True, True]
    assert doc[0:4]._.sentiment_label in ("positive", "very positive")
    assert "very negative" in capsys.readouterr().out


def test_onnx(capsys: pytest.CaptureFixture[str]) -> None:
    found = run("InferenceSession")
    assert capsys.readouterr().out == "(5, 5) (1, 5)\n[0 0 0 1 1]\n"
    np.testing.assert_allclose(found["nodes"].sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(found["nodes"][-1:], found["roots"])


def test_trees() -> None:
    tree = run("from_brackets")["tree"]
    assert tree.words == ("A", "wonderful", "film")
    assert tree.transitions.tolist() == [0, 0, 0, 1, 1]


def test_the_plugin_builds_a_cell_that_exports() -> None:
    spec = CellSpec(run("class Mean")["Mean"])
    assert spec.name == "mean.v1"
    torch.manual_seed(0)
    cell = spec.create({}, input_size=6, hidden_size=4)
    head = NodeClassifier(hidden_size=4, classes=2)
    embedding, encoder = WordEmbedding(entries=9, size=6), TreeEncoder([Layer(cell)])
    model = Model(embedding=embedding, encoder=encoder, head=head).eval()
    fields = {"labels": ["no", "yes"], "embedding": {"kind": "words", "size": 6}}
    config = config_of({"name": "mean.v1"}, **fields)
    export_verified_onnx(model, config, vocabulary_digest="none")  # and compared with the model
    export_torchscript(model)
    ids, steps = torch.tensor([3, 1, 2]), torch.tensor(Tree.right(["a", "b", "c"]).transitions)
    table, weights = model.embedding.table, dict(cell.named_parameters())
    leaves = torch.tanh(table[ids] @ weights["read.weight"].T + weights["read.bias"])

    def merge(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.tanh(weights["merge.weight"] @ torch.cat([a, b]) + weights["merge.bias"])

    root = merge(leaves[0], merge(leaves[1], leaves[2]))
    expected = torch.softmax(model.head.linear(root), 0)
    found = model({"token_ids": ids, "transitions": steps})["root_scores"]
    torch.testing.assert_close(found[0], expected)
