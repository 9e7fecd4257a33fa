"""What a recipe's files become: examples, labels, words and vectors, and who is set aside."""

import numpy as np
import pytest
import tiny_dependencies
import tiny_recipe

from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.seeds import run_seed
from thinstack.training.recipe import Recipe


def words_of(found, examples):
    known = ["?", *found.vocabulary.entries]
    return [[known[row] for row in example.gold.forest.token_ids] for example in examples]


def targets_of(examples):
    return [example.gold.targets.tolist() for example in examples]


# -- who is set aside


def test_what_is_watched_is_what_the_recipe_says(data):
    assert load_datasets(tiny_recipe.recipe(), data).watched == []
    on_dev = load_datasets(tiny_recipe.recipe(stop_on="dev"), data)
    assert on_dev.watched is on_dev.dev
    assert (len(on_dev.train), len(on_dev.dev)) == (30, 10)
    held = load_datasets(tiny_recipe.recipe(stop_on="held"), data)
    assert [len(part) for part in (held.train, held.watched, held.dev)] == [27, 3, 10]
    aside = [words_of(on_dev, on_dev.train)[place] for place in (0, 10, 20)]
    assert words_of(held, held.watched) == aside


def test_what_is_held_out_is_in_no_other_part(data, tmp_path):
    twice = 2 * (data / "train.txt").read_text(encoding="utf-8")
    (tmp_path / "train.txt").write_text(twice, encoding="utf-8")
    (tmp_path / "test.txt").write_bytes((data / "dev.txt").read_bytes())
    files, alone = {"dev": None, "dev_size": 8, "test": "test.txt"}, {"name": "alone.v1"}
    found = load_datasets(tiny_recipe.recipe(data=files, lessons=[alone]), tmp_path)
    shown = words_of(found, found.train)
    assert not [words for words in words_of(found, found.dev) if words in shown]
    assert len(found.treebank.aside) == len(found.dev) + 10


@pytest.mark.parametrize(("dev_size", "stop_on"), [(30, "nothing"), (40, "nothing"), (29, "held")])
def test_something_must_be_left_to_train_on(data, dev_size, stop_on):
    recipe = tiny_recipe.recipe(data={"dev": None, "dev_size": dev_size}, stop_on=stop_on)
    with pytest.raises(DataError, match=r"train\.txt: all examples \((29|30)\) would be set aside"):
        load_datasets(recipe, data)


# -- what does not fit

SETS = {"bad": ["negative"], "not": ["so-so", "positive"]}
DEPENDENCY = {"cell": {"name": "child_sum_lstm.v1"}, "model": {"trees": "dependency"}}


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        *(
            ({"model": {"head": {"name": head}}}, ConfigError, f"phrases.v1 .*; {head} reads")
            for head in ("similarity.v1", "entailment.v1", "tree_ranker.v1")
        ),
        ({"cell": {"name": "magic.v1"}}, UnknownNameError, r"'magic\.v1'; known: .*nary_lstm\.v1"),
        ({**DEPENDENCY, "sources": ()}, TreeError, r"train\.txt: tree \d+: .*dependency"),
        ({"vectors": "words.txt", "embedding": {"size": 5}}, ConfigError, r"5 .* words\.txt has 4"),
        ({"model": {"class_sets": SETS}}, ConfigError, "only with tables"),
        ({"model": {"vectors": {"name": "vector.v1"}}}, ConfigError, "does not train them"),
        ({"kind": "wordpieces"}, ConfigError, r"data\.vectors: .* pieces"),
        ({"kind": "wordpieces", "vectors": "words.txt"}, DataError, r"\[UNK\]"),
    ],
)
def test_phrases_that_do_not_fit_are_refused(data, settings, error, message):
    with pytest.raises(error, match=message):
        load_datasets(tiny_recipe.recipe(**settings), data)


# -- other labels

BINARY = {
    "data": {"relabel": {"0": "negative", "1": "", "2": "positive"}},
    "model": {"labels": ["negative", "positive"]},
}
FILES = {
    "train.txt": "(2 (1 the) (2 (2 good) (1 film)))\n(1 (1 the) (1 film))\n(0 (0 bad) (1 film))\n",
    "dev.txt": "(1 (0 bad) (2 good))\n(2 (2 good) (0 (0 bad) (1 plot)))\n",
}


@pytest.fixture
def polar(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_neutral_sentences_are_left_out_and_neutral_phrases_have_no_class(polar):
    found = load_datasets(tiny_recipe.recipe(**BINARY), polar)
    assert targets_of(found.train) == [[-1, 1, -1, 1, 1], [0, -1, 0]]
    assert targets_of(found.dev) == [[1, 0, -1, 0, 1]]
    assert words_of(found, found.train) == [["the", "good", "film"], ["bad", "film"]]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(5 (2 good) (2 film))", r"dev\.txt:3: node 2 \('good film'\) .* '5'"),
        ("(0 (2 the) (0 bad) (2 film))", r"dev\.txt: tree 2: node 3 has 3 children"),
    ],
)
def test_a_tree_of_another_class_or_form_is_named_with_its_file(polar, tree, message):
    relabel = {"data": {"relabel": {"0": "negative", "2": "positive"}}, "model": BINARY["model"]}
    with (polar / "dev.txt").open("a", encoding="utf-8") as file:
        file.write(f"{tree}\n")
    with pytest.raises(TreeError, match=message):
        load_datasets(tiny_recipe.recipe(**relabel), polar)


@pytest.mark.parametrize("file", ["train.txt", "dev.txt"])
def test_a_file_without_any_class_is_named(polar, file):
    (polar / file).write_text("(1 film)\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{file}: .* found none; label some"):
        load_datasets(tiny_recipe.recipe(**BINARY), polar)


# -- sequences

TOP_DOWN = {"encoder": {"top_down": "shared", "readout": ["up", "leaves"]}}


def test_chains_that_phrases_share_allow_no_pass_back(data):
    with pytest.raises(ConfigError, match=r"^model\.head: .* a head that reads roots$"):
        load_datasets(tiny_dependencies.recipe("sequence", model=TOP_DOWN), data)
    model = {**TOP_DOWN, "head": {"name": "root_classifier.v1"}}
    both = load_datasets(tiny_dependencies.recipe("sequence", model=model), data)
    for example in both.train:
        gold = example.gold
        assert gold.targets.size == gold.forest.lengths.size
        assert (gold.targets >= 0).all()


# -- classes in CoNLL-U

LABELLED = """# label = positive
1\tgood\t_\t_\t_\t_\t3\tamod\t_\tLabel=positive
2\tbad\t_\t_\t_\t_\t3\tamod\t_\tLabel=negative
3\tfilm\t_\t_\t_\t_\t0\troot\t_\t_

# label = negative
1\tfilm\t_\t_\t_\t_\t0\troot\t_\t_
"""


@pytest.fixture
def in_conllu(tmp_path):
    """A recipe over such a file, with these settings, and its folder."""
    (tmp_path / "a.conllu").write_text(LABELLED, encoding="utf-8")
    files = {"train": "a.conllu", "dev": "a.conllu", "format": "labelled_conllu.v1"}
    return lambda **more: (tiny_dependencies.recipe("dependency", data=files, **more), tmp_path)


@pytest.mark.parametrize(
    ("head", "targets"),
    [("node_classifier.v1", [[2, 0, 2], [0]]), ("root_classifier.v1", [[2], [0]])],
)
def test_classes_in_conllu(in_conllu, head, targets):
    recipe, folder = in_conllu(model={"head": {"name": head}}, stop_on="dev", epochs=1)
    found = load_datasets(recipe, folder)
    assert targets_of(found.train) == targets
    assert found.train[0].gold.forest.parents.tolist() == [2, 2, -1]
    assert run_seed(recipe, found, 1, folder).dev["gold"]["roots"] == 2


def test_classes_in_conllu_leave_no_room_for_relations(in_conllu):
    model = {"relations": ["amod"], "cell": {"name": "sdt_rnn.v1", "hidden_size": 4}}
    with pytest.raises(ConfigError, match=r"^model\.relations: no node of a\.conllu .* labelled_"):
        load_datasets(*in_conllu(model=model))


# -- words and their first vectors


def vectors_of(path):
    rows = (line.split(" ") for line in path.read_text(encoding="utf-8").splitlines())
    return {word: [float(value) for value in values] for word, *values in rows}


def words_in(path):
    text = path.read_text(encoding="utf-8")
    return {part.split()[-1] for part in text.split(")") if part.strip()}


def test_a_word_table_has_the_words_of_the_vectors_their_mean_and_others(data):
    datasets = load_datasets(tiny_recipe.recipe(vectors="words.txt"), data)
    pretrained = vectors_of(data / "words.txt")
    unseen = words_in(data / "train.txt") - pretrained.keys()
    assert isinstance(datasets.vocabulary, WordVocabulary)
    assert set(datasets.vocabulary.entries) == pretrained.keys() | unseen
    assert datasets.table.shape == (1 + len(pretrained) + len(unseen), 4)
    vectors = np.array(list(pretrained.values()))
    found = datasets.table[datasets.vocabulary.ids(list(pretrained))]
    np.testing.assert_allclose(found, vectors, rtol=1e-6)
    np.testing.assert_allclose(datasets.table[0], vectors.mean(axis=0), atol=1e-6)
    drawn = datasets.table[datasets.vocabulary.ids(list(unseen))]
    assert len(np.unique(drawn, axis=0)) == len(unseen) > 3
    assert 0.02 < drawn.std() < 0.1


def test_words_are_looked_up_in_lower_case_before_they_count_as_unseen(tmp_path):
    data = tiny_recipe.write_data(tmp_path)
    (data / "train.txt").write_text("(2 (1 The) (2 (2 Lovely) (1 LOVELY)))\n", encoding="utf-8")
    datasets = load_datasets(tiny_recipe.recipe(vectors="words.txt"), data)
    assert set(datasets.vocabulary.entries) - vectors_of(data / "words.txt").keys() == {"lovely"}


def test_without_vectors_every_word_is_drawn_and_the_unknown_one_is_zero(data):
    datasets = load_datasets(tiny_recipe.recipe(), data)
    assert set(datasets.vocabulary.entries) == words_in(data / "train.txt")
    assert not datasets.table[0].any()
    assert datasets.table[1:].all()


def test_columns_are_cut_and_scaled(data):
    pretrained = np.array(list(vectors_of(data / "words.txt").values()))[:, :3]
    settings = {"embedding": {"size": 3}, "data": {"vector_std": 0.25}}
    found = load_datasets(tiny_recipe.recipe(vectors="words.txt", **settings), data)
    expected = pretrained * 0.25 / pretrained.std()
    np.testing.assert_allclose(found.table[1 : len(pretrained) + 1], expected, rtol=1e-5)


def test_a_wordpiece_table_is_the_file_of_pieces(data):
    datasets = load_datasets(tiny_recipe.recipe("wordpieces", vectors="pieces.txt"), data)
    pieces = vectors_of(data / "pieces.txt")
    assert isinstance(datasets.vocabulary, WordpieceVocabulary)
    assert datasets.vocabulary.entries == tuple(pieces)
    np.testing.assert_allclose(datasets.table, list(pieces.values()), rtol=1e-6)


# -- what is no recipe

PAIRS = {"format": "table.v1"}


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ({"name": "parsing.v1"}, "unknown task 'parsing.v1'; known: .*phrases.v1"),
        (PAIRS | {"name": "relatedness.v1", "neighbours": 0.1}, "no setting neighbours"),
        ({"name": "texts.v1", "root_weight": 0.1}, "texts.v1 has no setting root_weight"),
        (PAIRS | {"name": "entailment.v1", "relabel": {"a": ""}}, "no setting relabel"),
        ({"name": "entailment.v1"}, "format: Field required"),
        ({"name": "phrases.v1", "span_group": "sc"}, "phrases.v1 has no setting span_group"),
    ],
)
def test_settings_of_another_task_are_refused(task, problem):
    raw = tiny_recipe.recipe().model_dump(mode="json", exclude_defaults=True) | {"task": task}
    with pytest.raises(ConfigError, match=f"^r.toml: task.*{problem}"):
        Recipe.parse(raw, source="r.toml")


@pytest.mark.parametrize("change", [{"schema": 2}, {"task": {}}, {"task": "texts"}, {"task": None}])
def test_what_is_no_recipe(change):
    raw = tiny_recipe.recipe().model_dump(mode="json")
    with pytest.raises(ConfigError, match=rf"^r.toml: {next(iter(change))}"):
        Recipe.parse(raw | change, source="r.toml")
