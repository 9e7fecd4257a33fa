"""The task of vectors: its teacher, the phrases that are drawn, its losses, and a model."""

import json

import numpy as np
import pytest
import torch
import transformers
from tiny_encoder import WIDTH, write_encoder
from trained import train
from training.tiny_recipe import write_data

import thinstack
from thinstack.core.forest import Forest
from thinstack.core.transitions import spans_of
from thinstack.errors import ConfigError, DataError
from thinstack.evaluate.figures import nearest_figures
from thinstack.plugins.build import build_model
from thinstack.training import run_recipe
from thinstack.training.examples.example import Minibatch
from thinstack.training.examples.inputs import data_digests
from thinstack.training.loop.teacher import AnswerCache
from thinstack.training.recipe import Recipe
from thinstack.training.task import Step
from thinstack.training.tasks.vectors.encoder import StringEncoder, TeacherTable
from thinstack.training.tasks.vectors.learning import (
    draw_nodes,
    mean_losses,
    parse,
    similarity_loss,
)

pytestmark = pytest.mark.usefixtures("short_samples")
STRINGS = ["good film", "the plot is bad", "dull", "fine", "the film is lovely", "awful plot"]
TEXTS = [
    "The film is good. The plot is dull.",
    "The film is lovely and the plot is fine.",
    "The plot is awful, and the film is bad.",
    "A good plot.",
    "Bad.",
    "The film is fine. The film is good. The plot is bad.",
]
SIZE = 8


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with an encoder, texts and vectors of pieces."""
    folder = write_data(tmp_path_factory.mktemp("vectors"))
    write_encoder(folder / "encoder")
    rows = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    for name in ("texts", "dev"):
        (folder / f"{name}.jsonl").write_text(rows, encoding="utf-8")
    return folder


def recipe(task=None, model=None, init=None, **training):
    cell = {"name": "mean_beside.v1", "hidden_size": 6, "options": {"reads": "state"}}
    head = {"name": "vector.v1", "options": {"size": SIZE, "hidden": 5}}
    both = {
        "labels": thinstack.load().labels,
        "aggregation": "tree",
        "embedding": {"kind": "wordpieces", "size": 4},
        "cell": cell,
        "head": {"name": "node_classifier.v1"},
        "vectors": head,
        "parser": {"name": "distances.v1"},
    }
    raw = {
        "name": "vectors",
        "task": {"name": "vectors.v1", "encoder": "encoder", "pooling": "mean", **(task or {})},
        "data": {"train": "texts.jsonl", "dev": "dev.jsonl", "vectors": "pieces.txt"},
        **({"init": init} if init else {}),
        "model": both | (model or {}),
        "training": {"seeds": (1,), "stop_on": "nothing", "rule": "adamw", "vector_rule": "adam"}
        | training,
    }
    return Recipe.parse(raw, source="test")


def by_hand(folder, strings, pool):
    """The vectors of strings, one by one, by transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        outputs = [
            model(**tokenizer(one, return_tensors="pt")).last_hidden_state for one in strings
        ]
    rows = np.stack([pool(output[0]).numpy() for output in outputs])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("pooling", "pool"), [("mean", lambda rows: rows.mean(0)), ("cls", lambda rows: rows[0])]
)
def test_a_string_has_the_pooled_outputs_of_its_pieces(data, pooling, pool):
    vectors = StringEncoder("encoder", data, pooling).encode(STRINGS)
    expected = by_hand(data / "encoder", STRINGS, pool)
    assert np.abs(vectors - expected).max() < 0.02  # half precision, perhaps bfloat16
    assert ((vectors * expected).sum(1) > 0.999).all()


def test_the_pooling_of_a_teacher_is_stated_or_asked_for(data, tmp_path):
    with pytest.raises(ConfigError, match='pooling = "mean" or "cls"'):
        StringEncoder("encoder", data, None)
    write_encoder(tmp_path / "stated")
    (tmp_path / "stated/1_Pooling").mkdir()
    modes = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (tmp_path / "stated/1_Pooling/config.json").write_text(json.dumps(modes))
    stated, asked = (StringEncoder("stated", tmp_path, one) for one in (None, "cls"))
    assert stated.digest == asked.digest != StringEncoder("stated", tmp_path, "mean").digest
    (tmp_path / "stated/1_Pooling/config.json").write_text('{"pooling_mode_')
    with pytest.raises(ConfigError, match="does not specify how to pool"):
        StringEncoder("stated", tmp_path, None)
    with pytest.raises(DataError, match=r"transformers sentence encoder in .*absent"):
        StringEncoder("absent", tmp_path, "mean")


def test_a_teacher_reads_each_string_once_and_keeps_it(data, tmp_path, monkeypatch):
    encoder = StringEncoder("encoder", data, "mean")
    whole = encoder.encode(STRINGS).astype(np.float32)
    table = TeacherTable(encoder, WIDTH, AnswerCache(tmp_path, at_once=2))
    table.turn_to(STRINGS)
    rows = table.rows_of([*STRINGS, STRINGS[0]])
    assert rows.tolist() == [0, 1, 2, 3, 4, 5, 0]
    turned = table.vectors.astype(np.float32)
    np.testing.assert_allclose(turned @ turned.T, whole @ whole.T, atol=0.01)

    monkeypatch.setattr(encoder, "encode", lambda strings: pytest.fail(f"read again: {strings}"))
    again = TeacherTable(encoder, WIDTH, AnswerCache(tmp_path, at_once=2))
    again.turn_to(STRINGS)
    again.rows_of(STRINGS)
    assert (again.vectors == table.vectors).all()
    with pytest.raises(ConfigError, match=f"at most {WIDTH}, .* found {WIDTH + 1}"):
        TeacherTable(encoder, WIDTH + 1, AnswerCache())


def test_phrases_are_characters_of_their_text(data):
    texts = recipe().task.read(data / "texts.jsonl", recipe().model, [])
    assert [text.text for text in texts] == TEXTS
    trees = list(parse(texts, thinstack.load()))
    for text, tree, result in zip(texts, trees, thinstack.load()(TEXTS), strict=True):
        strings = text.strings(spans_of(tree.transitions))
        assert strings[-1] == text.text
        scores = tree.scores @ np.linspace(-1, 1, 5)
        said = {(string, round(float(p), 4)) for string, p in zip(strings, scores, strict=True)}
        assert {(phrase.text, round(phrase.polarity, 4)) for phrase in result.phrases} <= said
        assert scores[-1] == pytest.approx(result.polarity)
        nodes = draw_nodes(tree.transitions, 3, np.random.default_rng(0))
        assert nodes[-1] == len(tree.transitions) - 1
        assert len({*nodes.tolist()}) == len(nodes) <= 5


def test_neighbours_by_hand():
    """Only row 2 has the teacher's nearest row as its nearest; with ten rows before it, the nearest
    of row 0 is not among ten."""
    teacher = np.array([[1, 0], [0.9, np.sqrt(0.19)], [0, 1]])
    vectors = np.array([[1.0, 0], [-1, 0], [0, 1]])
    figures = nearest_figures(vectors, teacher)
    assert figures == {"first": pytest.approx(100 / 3), "among_ten": 100.0}
    far = np.concatenate([vectors[[0, 1]], np.repeat(vectors[:1], 10, axis=0)])
    near = np.concatenate([teacher[[0, 1]], np.repeat(-teacher[:1], 10, axis=0)])
    assert nearest_figures(far, near)["among_ten"] < 100


def test_the_loss_is_of_cosines_and_of_their_differences():
    draw = np.random.default_rng(0)
    ours, theirs = (draw.normal(size=(3, 4)) for _ in range(2))
    v, t = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (ours, theirs))
    pairs = ((v @ v.T - t @ t.T) ** 2).sum() / 6
    expected = (1 - (v * t).sum(1)).mean() + 10 * pairs
    plain = recipe({"short_weight": 0}).task
    loss = similarity_loss(torch.tensor(ours), torch.tensor(t), plain)
    assert float(loss) == pytest.approx(expected)
    same = recipe({"short": 4, "short_weight": 0.5}).task
    assert float(similarity_loss(torch.tensor(ours), torch.tensor(t), same)) == pytest.approx(
        1.5 * expected
    )


def test_without_a_tree_a_phrase_is_the_mean_of_its_words(data):
    """The first epochs learn what the model gives where its cell gives 0."""
    chosen = recipe({"short_weight": 0})
    model = build_model(chosen.model, entries=13).eval()
    torch.nn.init.normal_(model.vectors.net[2].weight)
    forest = Forest(
        sizes=np.array([3, 1]),
        lengths=np.array([2, 1]),
        breaks=np.array([0, 0]),
        transitions=np.array([0, 0, 1, 0]),
        piece_ids=np.array([2, 3, 5]),
        pieces_per_word=np.array([1, 1, 1]),
    )
    none = np.zeros(2, np.int64)
    targets = np.array([-1, -1, 0, 1])
    batch = Minibatch(forest, targets, none, none, 2, none, none, None)
    words = model.embedding.table[torch.tensor([2, 3, 5])]
    rows = torch.zeros(2, 12 + 4 + 1)
    rows[0, 12:16], rows[0, 16] = (words[0] + words[1]) / 2, np.log(2)
    rows[1, 12:16] = words[2]
    teacher = torch.eye(2, SIZE)
    expected = similarity_loss(model.vectors(rows), teacher, chosen.task)
    (loss, _), (cases, _) = mean_losses(Step(model, batch, chosen.training), teacher, chosen.task)
    torch.testing.assert_close(loss / cases, expected)


def test_a_model_learns_the_teacher_and_its_guide(data, tmp_path, monkeypatch):
    """From a recipe to a bundle, which gives vectors near the teacher's and the guide's labels."""
    task = {"mean_epochs": 10, "class_weight": 2}
    chosen = recipe(task, epochs=80, batch_size=6, learning_rate=0.02, vector_learning_rate=0.02)
    out = train(chosen, data, tmp_path / "run").out
    lines = (out / "seeds/1/metrics.jsonl").read_text(encoding="utf-8").splitlines()
    cosines = [json.loads(line)["traced"]["gold"]["cosine"] for line in lines]
    assert cosines[9] > cosines[0]
    assert cosines[-1] > cosines[9]
    model, guide = thinstack.load(out / "model-best"), thinstack.load()
    results = model(TEXTS)
    polarity = [[one.polarity for one in said] for said in (results, guide(TEXTS))]
    assert np.corrcoef(polarity)[0, 1] > 0.9
    table = TeacherTable(StringEncoder("encoder", data, "mean"), SIZE, AnswerCache(out / "teacher"))
    table.turn_to(TEXTS)
    rows = table.rows_of(TEXTS)
    theirs = table.vectors[rows].astype(np.float32)
    assert (np.stack([one.vector for one in results]) * theirs).sum(1).mean() > 0.9

    parts = ["embedding", "encoder", "parser", "head", "vectors"]
    start = {"bundle": str(out / "model-best"), "parts": parts, "frozen": []}
    slow = {"learning_rate": 1e-6, "vector_learning_rate": 1e-6, "parser_learning_rate": 1e-6}
    further = recipe(epochs=1, init=start, batch_size=6, **slow)
    monkeypatch.setattr(run_recipe, "_finish", lambda *_, **__: None)
    train(further, data, tmp_path / "more")
    first = json.loads((tmp_path / "more/seeds/1/metrics.jsonl").read_text(encoding="utf-8"))
    assert abs(first["traced"]["gold"]["cosine"] - cosines[-1]) < 2  # the teacher is turned alike


def test_a_run_notes_the_weights_of_its_teacher(data):
    before = data_digests(recipe(), data)["encoder"]
    weights = data / "encoder/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    assert before != data_digests(recipe(), data)["encoder"]


def test_a_model_may_give_vectors_alone(data, tmp_path):
    """As on the page of vectors: no labels, and a text is the mean of its sentences."""
    head = {"name": "vector.v1", "options": {"size": SIZE}}
    model = {"labels": (), "aggregation": "mean", "head": head, "vectors": None}
    bundle = train(recipe(model=model, epochs=1), data, tmp_path / "run").bundle
    rows = thinstack.load(bundle.path).encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)


@pytest.mark.parametrize(
    ("model", "task", "problem"),
    [
        ({"cell": {"name": "nary_lstm.v1", "hidden_size": 6}}, {}, "the cell mean_beside"),
        ({"vectors": None}, {}, "a vector head"),
        ({"parser": None, "aggregation": "mean"}, {}, "add a parser"),
        ({"labels": ["bad", "good"]}, {}, "expected the classes of model.labels"),
        ({}, {"text_column": "review"}, "review"),
    ],
)
def test_what_does_not_fit_is_refused(data, tmp_path, model, task, problem):
    with pytest.raises((ConfigError, DataError), match=problem):
        train(recipe(task, model, epochs=1), data, tmp_path / "run")
