"""What a recipe's files become: sentences as sequences, parsed sentences, other labels, and who is
set aside."""

import pytest
import tiny_dependencies
import tiny_recipe

from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.seeds import run_seed


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


@pytest.mark.parametrize(("dev_size", "stop_on"), [(30, "nothing"), (40, "nothing"), (29, "held")])
def test_something_must_be_left_to_train_on(data, dev_size, stop_on):
    recipe = tiny_recipe.recipe(data={"dev": None, "dev_size": dev_size}, stop_on=stop_on)
    with pytest.raises(DataError, match=r"train\.txt: all examples \((29|30)\) would be set aside"):
        load_datasets(recipe, data)


# -- what does not fit

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
        ({"kind": "wordpieces"}, ConfigError, r"data\.vectors: .* pieces"),
        ({"kind": "wordpieces", "vectors": "words.txt"}, DataError, r"\[UNK\]"),
    ],
)
def test_phrases_that_do_not_fit_are_refused(data, settings, error, message):
    with pytest.raises(error, match=message):
        load_datasets(tiny_recipe.recipe(**settings), data)


def test_a_tree_that_is_not_binary_is_named_with_its_file(tmp_path):
    data = tiny_recipe.write_data(tmp_path)
    with (data / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("(0 (1 the) (0 bad) (1 film))\n")
    with pytest.raises(TreeError, match=r"dev\.txt: tree 10: node 3 has 3 children"):
        load_datasets(tiny_recipe.recipe(), data)


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


def test_without_other_names_a_class_outside_is_still_refused(polar):
    relabel = {"data": {"relabel": {"0": "negative", "2": "positive"}}, "model": BINARY["model"]}
    with (polar / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("(5 (2 good) (2 film))\n")
    with pytest.raises(TreeError, match=r"dev\.txt:3: node 2 \('good film'\) .* '5'"):
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


@pytest.mark.parametrize(
    ("head", "targets"),
    [("node_classifier.v1", [[2, 0, 2], [0]]), ("root_classifier.v1", [[2], [0]])],
)
def test_classes_in_conllu(tmp_path, head, targets):
    (tmp_path / "a.conllu").write_text(LABELLED, encoding="utf-8")
    files = {"train": "a.conllu", "dev": "a.conllu", "format": "labelled_conllu.v1"}
    settings = {"data": files, "model": {"head": {"name": head}}, "stop_on": "dev", "epochs": 1}
    recipe = tiny_dependencies.recipe("dependency", **settings)
    found = load_datasets(recipe, tmp_path)
    assert targets_of(found.train) == targets
    assert found.train[0].gold.forest.parents.tolist() == [2, 2, -1]
    assert run_seed(recipe, found, 1, tmp_path).dev["gold"]["roots"] == 2


def test_classes_in_conllu_leave_no_room_for_relations(tmp_path):
    (tmp_path / "a.conllu").write_text(LABELLED, encoding="utf-8")
    model = {"relations": ["amod"], "cell": {"name": "sdt_rnn.v1", "hidden_size": 4}}
    files = {"train": "a.conllu", "dev": "a.conllu", "format": "labelled_conllu.v1"}
    recipe = tiny_dependencies.recipe("dependency", data=files, model=model)
    with pytest.raises(ConfigError, match=r"^model\.relations: no node of a\.conllu .* labelled_"):
        load_datasets(recipe, tmp_path)
