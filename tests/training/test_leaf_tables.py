"""The words of a recipe and their first vectors."""

import numpy as np
import tiny_recipe

from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.training.examples.datasets import load_datasets


def vectors_of(path):
    rows = (line.split(" ") for line in path.read_text(encoding="utf-8").splitlines())
    return {word: [float(value) for value in values] for word, *values in rows}


def words_of(path):
    text = path.read_text(encoding="utf-8")
    return {part.split()[-1] for part in text.split(")") if part.strip()}


def test_a_word_table_has_the_words_of_the_vectors_their_mean_and_others(data):
    datasets = load_datasets(tiny_recipe.recipe(vectors="words.txt"), data)
    pretrained = vectors_of(data / "words.txt")
    unseen = words_of(data / "train.txt") - pretrained.keys()
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
    assert set(datasets.vocabulary.entries) == words_of(data / "train.txt")
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
