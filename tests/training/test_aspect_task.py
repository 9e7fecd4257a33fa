"""The task of aspects: its settings, its examples by a guide, their loss, what is measured."""

import json

import numpy as np
import pytest
import runs
import tiny_texts
from aspect_models import write_aspect_bundle
from last_word_model import write_last_word_bundle

import thinstack
from thinstack.bundle.weights import load_model
from thinstack.core.forest import Forest
from thinstack.core.scale import FIVE, NO_TERM
from thinstack.core.transitions import spans_of
from thinstack.errors import BundleError, ConfigError, DataError
from thinstack.evaluate.accuracy import Judged
from thinstack.runtime.predictor import Predictor
from thinstack.text.given_trees import with_phrases
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import Example, minibatch
from thinstack.training.examples.inputs import data_digests
from thinstack.training.examples.labelled import LabelledForest
from thinstack.training.examples.set_aside import is_held_out
from thinstack.training.loop.losses import aspect_losses
from thinstack.training.loop.measuring import answers_of, take_own_trees
from thinstack.training.publish.calibrate import cases_of
from thinstack.training.recipe import Recipe
from thinstack.training.task import Step
from thinstack.training.tasks.aspects import Aspects
from thinstack.training.tasks.aspects.sentences import (
    judged_bundle,
    judged_examples,
    read_sentences,
)

THREE = ("negative", "neutral", "positive")
LABELS = (NO_TERM, *THREE)
BOTH = ("The film plot is good but the end is dull. It is fine.", (4, 13, 2), (30, 33, 0))
TEXTS = (
    BOTH,
    ("The plot is bad.", (4, 8, 0), (0, 8, 1)),
    ("Who is it?",),
    ("Who?",),
    ("The film is a film.", (4, 8, 1)),
)


def rows(text, *terms, labels=THREE):
    for start, end, label in terms or [(None, None, None)]:
        name = None if label is None else labels[label % len(labels)]
        yield {"text": text, "start": start, "end": end, "label": name}


def table(path, texts=TEXTS, **more):
    given = (row for text in texts for row in rows(*text, **more))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in given), "utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aspects")
    guides = {"three": THREE, "five": FIVE, "aspects": LABELS, "other": ("bad", "so-so", "good")}
    for name, labels in guides.items():
        tiny_texts.start(folder / name, labels=labels, runs=True)
    write_last_word_bundle(folder / "unparsed", labels=THREE)
    table(folder / "terms.jsonl")
    table(folder / "none.jsonl", [("It is.",)] * 2)
    table(folder / "two.jsonl", labels=("negative", "positive"))
    (folder / "bare.jsonl").write_text('{"text": "A dull end."}\n', "utf-8")
    return folder


def recipe(folder, *, labels=LABELS, train="terms.jsonl", init="three", **sections):
    model = {
        "labels": list(labels),
        "embedding": {"kind": "wordpieces", "size": 4},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 5},
        "head": {"name": "node_classifier.v1"},
        "parser": tiny_texts.PARSER,
    }
    task = {"name": "aspects.v1"} | sections.pop("task", {})
    if "guide" in task:
        task["guide"] = str(folder / task["guide"])
    whole = {
        "name": "tiny",
        "schema": 1,
        "data": {"train": train, "dev": train, "vectors": None if init else "wordpieces"},
        "task": task,
        "model": {key: part for key, part in (model | sections.pop("model", {})).items() if part},
        "training": {"epochs": 1, "stop_on": "nothing"} | sections.pop("training", {}),
    }
    if init:
        parts = ["embedding", "encoder", "parser"] if "parser" in whole["model"] else ["embedding"]
        whole["init"] = {"bundle": str(folder / init), "parts": parts}
    return Recipe.parse(whole, source="r.toml")


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"labels": THREE}, "model.labels: expected 'no term' and then a neg.*, found negative, n"),
        ({"labels": (*THREE, NO_TERM)}, "model.labels: "),
        ({"labels": (NO_TERM, *FIVE)}, "model.labels: .*found no term, very negative"),
        ({"labels": (NO_TERM, "a", "b")}, "model.labels: .*found no term, a, b$"),
        ({"model": {"parser": None}}, "model.parser: .* such as sentiment .--init sentiment.$"),
        ({"training": {"gold": False, "sources": ["self"]}}, "training: .*sources but gold$"),
        ({"init": None}, 'task.guide: expected a bundle .*guide = "sentiment"'),
        ({"task": {"phrase_weight": -1}}, "task.*phrase_weight: .*greater than or equal to 0"),
        ({"task": {"polarity_weight": 1e5}}, "task.*polarity_weight: .*less than or equal to 1000"),
    ],
)
def test_settings_that_do_not_fit_are_refused_by_their_field(folder, sections, problem):
    with pytest.raises(ConfigError, match=f"^r.toml: {problem}"):
        recipe(folder, **sections)


THREE_BARE = {"guide": "three", "tables": ["bare.jsonl"]}
LOST = {"guide": "aspects", "tables": ["nosuch.jsonl"]}


@pytest.mark.parametrize(
    ("sections", "error", "problem"),
    [
        ({"task": {"guide": "other"}}, ConfigError, "task.guide, or .* such as sentiment$"),
        ({"task": {"guide": "unparsed"}}, ConfigError, "task.guide.* scores the sentiment of phr"),
        ({"task": {"guide": "nosuch"}}, BundleError, "nosuch: no such folder"),
        ({"train": "none.jsonl"}, DataError, r"^none.jsonl: expected rows with start, end and lab"),
        ({"model": {"head": {"name": "root_classifier.v1"}}}, ConfigError, "aspects.v1 .*; root_"),
        ({"task": THREE_BARE}, ConfigError, "task.tables: .*are missing.*task.guide"),
        ({"task": LOST}, DataError, "task aspects.v1: expected the file .*nosuch.jsonl"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(folder, sections, error, problem):
    with pytest.raises(error, match=problem):
        load_datasets(recipe(folder, **sections), folder)


def taught(folder, guide, *, labels=LABELS, train="terms.jsonl", **task):
    task = {"guide": guide, "polarity_weight": 7, "phrase_weight": 0.5} | task
    return load_datasets(recipe(folder, task=task, labels=labels, train=train), folder)


# What classes of a guide say of a node, by hand: its row of scores as the model's classes.
AS_CLASSES = {
    "three": lambda row: row,
    "five": lambda row: [row[0] + row[1], row[2], row[3] + row[4]],
    "aspects": lambda row: row[1:] / row[1:].sum(),
}


@pytest.mark.parametrize("guide", AS_CLASSES)
@pytest.mark.parametrize("classes", [3, 2])
def test_terms_are_nodes_of_their_label_and_others_sound_as_the_guide_says(folder, guide, classes):
    labels = LABELS if classes == 3 else (NO_TERM, "negative", "positive")
    train = "terms.jsonl" if classes == 3 else "two.jsonl"
    datasets = taught(folder, guide, labels=labels, train=train)
    assert len(datasets.train) == len(datasets.items[0]) == 6
    model = load_model(folder / guide).eval()
    for example, sentence in zip(datasets.train, datasets.items[0], strict=True):
        gold = example.gold
        nodes = [(start, end) for start, end in spans_of(gold.forest.transitions).tolist()]
        terms = {term[:2]: labels.index(term[2]) for term in sentence.terms}
        assert gold.targets.tolist() == [terms.get(node, 0) for node in nodes]
        assert {*terms} <= {*nodes}
        scores = model(model.inputs(gold.forest))["node_scores"].detach().numpy()
        for node, row, soft in zip(nodes, scores, gold.soft, strict=True):
            said = np.array(AS_CLASSES[guide](row))[[0, 1, 2] if classes == 3 else [0, 2]]
            expected = np.array([1, *(0.5 * said / said.sum())])
            if node in terms:
                expected = 7 * (np.arange(len(labels)) == terms[node])
            assert soft == pytest.approx(expected, abs=1e-3)


def test_a_tree_is_the_guides_but_for_its_terms(folder):
    datasets, guide = load_datasets(recipe(folder), folder), thinstack.load(folder / "three")
    for example, sentence in zip(datasets.train, datasets.items[0], strict=True):
        (own,) = guide.predict([sentence.words], source="self")
        wanted = with_phrases(own.tree.transitions, [term[:2] for term in sentence.terms])
        assert example.gold.forest.transitions.tolist() == wanted.tolist()


@pytest.fixture(scope="module")
def learning(folder):
    settings = recipe(folder, task={"polarity_weight": 3, "phrase_weight": 0.5})
    datasets = load_datasets(settings, folder)
    model = runs.drawn(settings, datasets)
    take_own_trees(model, datasets.train)
    return model, datasets.train, settings.training


@pytest.mark.parametrize("source", ["gold", "self"])
def test_the_loss_is_that_of_terms_and_that_of_the_sentiment(learning, source):
    model, examples, training = learning
    batch = minibatch(examples, [source] * len(examples), "static")
    (loss, parsing), (nodes, choices) = aspect_losses(Step(model, batch, training))
    expected = 0.0
    for given in (example.trees[source] for example in examples):
        scores = model(model.inputs(given.forest))["node_scores"].detach().numpy()
        for row, target, soft in zip(scores, given.targets, given.soft, strict=True):
            expected -= soft[0] * np.log(row[0]) + (target > 0) * np.log(1 - row[0])  # -1: unknown
            expected -= soft[1:].astype(float) @ np.log(row[1:] / (1 - row[0]))
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-4)
    assert nodes == len(batch.targets)
    assert (source == "self") == bool((batch.targets < 0).any())
    assert (choices > 0, float(parsing.detach()) > 0) == (True, True)
    (_, parsing), counts = aspect_losses(
        Step(model, batch._replace(right=batch.right[:0]), training)
    )
    assert (float(parsing), counts) == (0, (nodes, 0))


def test_a_run_goes_on_and_tells_another_guide(folder, tmp_path):
    more = {"guide": "five"}
    settings = recipe(folder, task=more, training={"epochs": 3, "stop_on": "dev"})
    whole, resumed = (tmp_path / name for name in ("whole", "resumed"))
    assert runs.same(runs.run(settings, folder, whole), runs.gone_on(settings, folder, resumed))
    digests = [data_digests(recipe(folder, task=task), folder) for task in (more, {})]
    assert len(digests[0].keys() - digests[1].keys()) == 1


# -- measuring

GOLD = [0, 0, 0, 1, 1, 0, 1]  # ((a (b c)) d)
OWN = [0, 0, 1, 0, 0, 1, 1]  # ((a b) (c d))
TERMS = {3: 1, 5: 3}  # in GOLD: b c, negative, and d, positive


def example():
    def over(steps, targets):
        sizes, lengths = np.array([7]), np.array([4])
        forest = Forest(sizes=sizes, lengths=lengths, transitions=np.array(steps))
        return LabelledForest(forest, np.array(targets), 6)

    gold = over(GOLD, [TERMS.get(node, 0) for node in range(7)])
    return Example({"gold": gold, "self": gold.over(np.array(OWN))})


def scores(said):
    """A row for each node: how probably it is a term, and its side."""
    table = [[1 - term, *(term * np.eye(3)[side + 1])] for term, side in said]
    return [np.array(table, np.float32)]


def test_terms_are_judged_on_any_tree():
    # Of each node: a b (b c) or (a b) ... in transition order.
    gold = scores([(0.1, 0), (0.6, 1), (0, 0), (0.9, -1), (0.4, 0), (0.7, 0), (0.2, 1)])
    assert [*judged_examples([example()], gold, "gold", LABELS)] == [
        Judged([(1, 3, -1), (3, 4, 1)], [-1, 0], [True, True], [(1, 3, -1), (3, 4, 0)])
    ]
    own = scores([(0.1, 0), (0.6, 1), (0.5, -1), (0, 0), (0.4, 1), (0.3, 0), (0.2, 1)])
    assert [*judged_examples([example()], own, "self", LABELS)] == [
        Judged([(1, 3, -1), (3, 4, 1)], [1, 1], [False, True], [(1, 2, 1)])
    ]
    cases = cases_of(answers_of(own * 2, [example()] * 2, "self"))
    assert cases.gold.tolist() == [0, 0, 0, 3, 0] * 2  # a, b, c, d and all
    assert cases.half.tolist() == [0] * 5 + [1] * 5


def test_a_bundle_is_judged_by_its_reading_of_whole_texts_sentence_by_sentence(tmp_path):
    text = "The battery is good. A staff screen. We left the door."
    terms = ((4, 11, 2), (23, 28, 2), (23, 35, 1), (49, 53, 0))
    path = table(tmp_path / "t.jsonl", [(text, *terms), ("Awful staff",)])
    sentences = read_sentences(path, Aspects(), THREE, None)
    predictor = Predictor(write_aspect_bundle(tmp_path / "bundle"))
    assert judged_bundle(predictor, sentences, LABELS) == [
        Judged([(4, 11, 1)], [1], [True], [(4, 11, 1)]),
        Judged([(23, 28, 1), (23, 35, 0)], [-1, 0], [True, False], [(23, 28, -1), (29, 35, 0)]),
        Judged([(49, 53, -1)], [0], [True], []),
        Judged([], [], [], [(6, 11, -1)]),
    ]


@pytest.mark.parametrize("alpha", [0.25, 1])
def test_a_guide_of_aspects_has_the_rest_of_labels_and_all_of_texts_without_any(folder, alpha):
    texts = [{"text": "The plot is fine, really."}, {"text": "A dull end."}]
    (folder / "texts.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in texts), "utf-8")
    datasets = taught(folder, "aspects", alpha=alpha, tables=["texts.jsonl"])
    model, seen = load_model(folder / "aspects").eval(), 0
    assert [one.labelled for one in datasets.items[0]].count(False) == 2
    for example, sentence in zip(datasets.train, datasets.items[0], strict=True):
        gold, share = example.gold, alpha if sentence.labelled else 0
        scores = model(model.inputs(gold.forest))["node_scores"].detach().numpy().astype(float)
        for row, target, soft in zip(scores, gold.targets, gold.soft, strict=True):
            own = np.eye(4)[target][1:] if target > 0 else np.zeros(3)
            term = share * own.sum() + (1 - share) * (1 - row[0])
            said = share * own + (1 - share * own.sum()) * row[1:] / row[1:].sum()
            counts = term * 7 + (1 - term) * 0.5
            assert soft == pytest.approx([1 - term, *(counts * said)], abs=5e-3)
            seen += target == -1
    assert seen > 10


def test_held_out_texts_of_further_tables_are_never_shown(folder):
    texts = [f"The plot {chr(97 + n % 26) * (1 + n // 26)} is good." for n in range(40)]
    table(folder / "more.jsonl", [(text, (4, 8, 2)) for text in texts])
    known = len(taught(folder, "three").items[0])
    items = taught(folder, "three", tables=["more.jsonl"], held_out=4).items[0][known:]
    held = {text for text in texts if is_held_out(text, 4)}
    assert {one.text for one in items} == {*texts} - held
    assert 3 < len(held) < 20
    assert "more.jsonl" in data_digests(recipe(folder, task={"tables": ["more.jsonl"]}), folder)
