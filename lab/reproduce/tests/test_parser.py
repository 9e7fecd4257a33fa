"""A dependency parser trained on a few sentences of a small language: (det) noun verb (det) noun,
marks and a clitic."""

import json
import os
import random
import sys
from itertools import product

import numpy as np
import pytest

from reproduce import parser as module
from reproduce.parser import ParserSettings, figures, parse, train_parser
from thinstack.core import Tree
from thinstack.data.trees.conllu import write_conllu
from thinstack.errors import DataError, MissingExtraError, TreeError

RELATIONS = ["punct", "det", "nsubj", "root", "obj", "punct"]
SETTINGS = ParserSettings(
    epochs=12, width=16, depth=1, hidden=16, batch_words=100, learning_rate=0.02
)

NOUNS, VERBS = ("dogs", "cats", "birds", "cows"), ("see", "chase", "hear")


def sentence(first, verb, second):
    """`( the dogs see cats )`: parents and relations by rule."""
    words = ["(", "the", first, verb, second, ")"]
    return Tree.from_parents([3, 2, 3, -1, 3, 3], words, RELATIONS)


SEEN = [
    sentence(*words) for words in product(NOUNS, VERBS, NOUNS) if words != ("dogs", "see", "cows")
]
UNSEEN = sentence("dogs", "see", "cows")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebank")
    train, dev = folder / "train.conllu", folder / "dev.conllu"
    write_conllu(SEEN, train)
    # Three of 18 words of the development file are wrong on purpose: two heads (one with a wrong
    # relation), one relation.
    relations = ["punct", "det", "nsubj", "root", "nmod", "punct"]
    odd = Tree.from_parents([3, 3, 3, -1, 2, 3], UNSEEN.words, relations)
    other = UNSEEN.with_labels(["punct", "det", "obj", "root", "obj", "punct"])
    write_conllu([UNSEEN, odd, other], dev)
    return train, dev


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parsers")


@pytest.fixture(scope="module")
def trained(files, folder):
    return train_parser(*files, folder, settings=SETTINGS)


def test_it_parses_what_it_was_trained_for(trained):
    assert parse(trained, [UNSEEN.words, SEEN[0].words]) == [UNSEEN, SEEN[0]]
    assert parse(trained, []) == []


def test_the_figures_are_the_share_of_words_attached_as_the_file_has_it(trained):
    found = figures(trained)
    assert (found["words"], found["uas"]) == (18, pytest.approx(100 * 16 / 18))
    assert found["las"] == pytest.approx(100 * 15 / 18)
    assert found["seconds"] > 0


def test_treebank_words_are_unescaped_for_the_parser_and_kept_in_the_tree(trained, monkeypatch):
    words = ["-LRB-", *UNSEEN.words[1:-1], "-RRB-"]
    shown = []
    make = module._doc

    def spied(nlp, words):
        doc = make(nlp, words)
        shown.append([token.text for token in doc])
        return doc

    monkeypatch.setattr(module, "_doc", spied)
    (tree,) = parse(trained, [words])
    assert shown == [list(UNSEEN.words)]
    assert tree == Tree.from_parents(UNSEEN.parents, words, UNSEEN.labels)


@pytest.mark.parametrize(
    "words", [["cats"], ["."] * 40, [*UNSEEN.words, *UNSEEN.words, "dogs"], ["\\/", " "]]
)
def test_a_sentence_is_one_tree_whatever_its_words(trained, words):
    (tree,) = parse(trained, [words])
    assert tree.tokens == tuple(words)
    assert tree.parents.tolist().count(-1) == 1
    assert tree.labels[tree.parents.tolist().index(-1)] == "root"


def test_what_is_there_is_not_trained_again(files, folder, trained, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_trained", None)
    copies = [tmp_path / path.name for path in files]
    for path, copy in zip(files, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    assert train_parser(*copies, folder, settings=SETTINGS) == trained
    with copies[1].open("a") as file:
        file.write("# another comment\n")
    seeded = ParserSettings(seed=1)
    for pair, settings in ((copies, SETTINGS), (files, seeded), (files[::-1], SETTINGS)):
        with pytest.raises(TypeError, match="'NoneType' object is not callable"):
            train_parser(*pair, folder, settings=settings)


def test_of_two_that_train_at_once_one_is_kept_and_both_are_alike(
    files, trained, tmp_path, monkeypatch
):
    train, inner = module._trained, []

    def slow(*arguments):
        monkeypatch.setattr(module, "_trained", train)
        inner.append(train_parser(*files, tmp_path / "new" / "folder", settings=SETTINGS))
        (inner[0] / "first").touch()
        return train(*arguments)

    monkeypatch.setattr(module, "_trained", slow)
    np.random.seed(7)
    random.seed(7)
    found = train_parser(*files, tmp_path / "new" / "folder", settings=SETTINGS)
    drawn = np.random.random(), random.random()
    assert inner == [found]
    assert (found / "first").exists()
    assert os.listdir(found.parent) == [found.name] == [trained.name]
    assert (found / "parser" / "model").read_bytes() == (trained / "parser" / "model").read_bytes()
    np.random.seed(7)
    random.seed(7)
    assert (np.random.random(), random.random()) == drawn  # the global generators are left alone


def test_words_of_multiword_tokens_are_words(trained, files, tmp_path):
    lines = files[1].read_text(encoding="utf-8").split("\n")
    dev = tmp_path / "dev.conllu"
    dev.write_text("\n".join([lines[0], "2-3\tthedogs" + "\t_" * 8, *lines[1:]]), encoding="utf-8")
    quick = ParserSettings(epochs=1, width=8, depth=1, hidden=8, batch_words=1000)
    found = train_parser(files[0], dev, tmp_path, settings=quick)
    assert figures(found)["words"] == 18


def test_a_place_that_cannot_be_written_is_told(files, tmp_path, monkeypatch):
    place = tmp_path / "file"
    place.write_text("")
    monkeypatch.setattr(module, "_trained", lambda trees, settings: (None, 0.0))
    monkeypatch.setattr(module, "_accuracy", lambda nlp, trees: {})
    with pytest.raises(DataError, match=r"file/[0-9a-f]{16}: the parser .*: File exists"):
        train_parser(*files, place, settings=SETTINGS)


def test_a_damaged_parser_and_a_bad_file_are_told(files, tmp_path):
    (tmp_path / "config.cfg").write_text("[nlp]\n")
    (tmp_path / "meta.json").write_text(json.dumps({"lang": "en"}))
    with pytest.raises(DataError, match=r"not a parser .*; delete the folder"):
        parse(tmp_path, [["a"]])
    with pytest.raises(DataError, match="not a parser"):
        parse(tmp_path / "none", [["a"]])
    with pytest.raises(DataError, match=r"none\.conllu: cannot be read"):
        train_parser(files[0], tmp_path / "none.conllu", tmp_path)
    bad = tmp_path / "bad.conllu"
    bad.write_text("1\tThe\n\n")
    with pytest.raises(TreeError, match=r"bad\.conllu:1"):
        train_parser(bad, files[1], tmp_path)


def test_spacy_is_an_extra(files, trained, monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"pip install spacy,.*'reproduce'"):
        train_parser(*files, trained.parent)
    with pytest.raises(MissingExtraError, match=r"pip install spacy,.*'reproduce'"):
        parse(trained, [["a"]])
