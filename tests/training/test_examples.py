"""Training examples against the trees that they were made of."""

import tiny_recipe

from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.treebank import label_ids
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.training.examples.example import examples_of, minibatch

VOCABULARY = WordVocabulary(sorted(tiny_recipe.VALUES))
MODEL = tiny_recipe.recipe().model


def indexed(text, sources=(), *, reads="nodes", pieces=None):
    return examples_of(read(text), pieces or VOCABULARY, MODEL, reads, sources)


def read(text):
    trees = [from_brackets(line) for line in text.splitlines()]
    return [(tree, label_ids(tree, tiny_recipe.LABELS)) for tree in trees]


def test_a_minibatch_is_the_examples_end_to_end():
    pieces = WordpieceVocabulary(["[UNK]", "the", "good", "film", "##s", "bad"])
    examples = indexed("(2 (1 the) (2 (2 good) (1 films)))\n(0 bad)", ("left",), pieces=pieces)
    batch = minibatch(examples, ["left", "gold"])
    filled = {name: part.tolist() for name, part in batch.forest._asdict().items() if len(part)}
    assert filled == {
        "piece_ids": [1, 2, 3, 4, 5],
        "pieces_per_word": [1, 1, 2, 1],
        "transitions": [0, 0, 1, 0, 1, 0],
        "lengths": [3, 1],
        "sizes": [5, 1],
    }
    assert (batch.targets.tolist(), batch.right.tolist()) == ([1, 2, -1, 1, 2, 0], [])
    assert batch.size == 2
