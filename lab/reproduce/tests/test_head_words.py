"""Head words of phrases: by a model, by a parse, and how often they agree."""

import math

import numpy as np
import pytest
import torch

from reproduce.head_shares import References
from reproduce.heads import UNCLEAR, Lexicalised, follow, function_heads, parsed_heads
from thinstack import from_brackets
from thinstack.bundle import write_bundle
from thinstack.bundle.weights import load_model, weights_of
from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.data.trees.treebank import label_ids
from thinstack.errors import InputError
from thinstack.plugins.build import build_model

WORDS = ("It", "is", "on", "the", "good", "road", ".")
LABELS = ("negative", "neutral", "positive")
SENTENCE = "(2 (1 It) (2 (2 (1 is) (2 (1 on) (2 (1 the) (2 (2 good) (1 road))))) (1 .)))"
TREE = from_brackets(SENTENCE)
# In transition order: It is on the good road [good road] [the ..] [on ..] [is ..] . [is .. .] all
PARSE = Tree.from_parents(
    [5, 5, 5, 5, 5, -1, 5], WORDS, ["nsubj", "cop", "case", "det", "amod", "root", "punct"]
)
IT, IS, ON, THE, GOOD, ROAD, STOP = range(7)
LEAVES = [IT, IS, ON, THE, GOOD, ROAD]


def made(folder, **cell):
    options = {"name": "lexicalized_lstm.v1", "hidden_size": 3, **cell}
    data = {
        "labels": LABELS,
        "embedding": {"kind": "words", "size": 4},
        "cell": options,
        "head": {"name": "node_classifier.v1"},
    }
    config = ModelConfig.parse(data, source="test")
    torch.manual_seed(5)
    model = build_model(config, entries=len(WORDS) + 1)
    for weights in model.parameters():
        torch.nn.init.uniform_(weights, -2, 2)
    words = "".join(f"{word}\n" for word in WORDS).encode()
    files = {"vocabulary.txt": words, "model.safetensors": weights_of(model)}
    return write_bundle(folder / "bundle", files, config=config)


def test_the_head_of_a_phrase_by_a_parse():
    inner = [ROAD, ROAD, ROAD, ROAD, STOP, ROAD, ROAD]
    assert parsed_heads(TREE, PARSE).tolist() == [*LEAVES, *inner]


def test_a_phrase_of_several_heads_has_none():
    other = from_brackets("( ( ( It is ) ( on the ) ) ( good ( road . ) ) )", labelled=False)
    heads = dict(zip(map(tuple, other.spans.tolist()), parsed_heads(other, PARSE), strict=True))
    assert [heads[0, 2], heads[2, 4], heads[0, 4], heads[4, 7]] == [UNCLEAR] * 3 + [ROAD]


def test_function_words_come_first():
    inner = [ROAD, ROAD, ON, IS, STOP, IS, IS]
    assert function_heads(TREE, PARSE).tolist() == [*LEAVES, *inner]
    # A word that follows the head, as the clitic of a possessor does, is none.
    own = Tree.from_parents([-1, 0], ["film", "'s"], ["root", "case"])
    assert function_heads(from_brackets("( film 's )", labelled=False), own)[-1] == 0


def test_following_one_side():
    assert follow(TREE, [0] * 13).tolist() == [*LEAVES, GOOD, THE, ON, IS, STOP, IS, IT]
    assert follow(TREE, [1] * 13).tolist() == [*LEAVES, ROAD, ROAD, ROAD, ROAD, STOP, STOP, STOP]


@pytest.mark.parametrize(("side", "child"), [("left", 0), ("right", 1)])
def test_a_model_that_takes_one_side(tmp_path, side, child):
    model = Lexicalised(made(tmp_path, options={"lexicalize": side}))
    other = Tree.left(WORDS[:3])
    for tree, found in zip([TREE, other], model.heads([TREE, other]), strict=True):
        assert found.tolist() == follow(tree, [child] * len(tree)).tolist()


def test_a_gate_chooses_the_child_that_is_nearer(tmp_path):
    """Against equations (8) and (9), node by node, in numpy."""
    bundle = made(tmp_path)
    state = {name: value.numpy() for name, value in load_model(bundle).state_dict().items()}
    (w,) = (value for name, value in state.items() if name.endswith("w_z"))
    (b,) = (value for name, value in state.items() if name.endswith("b_z"))
    table, words = state["embedding.table"], iter(range(len(WORDS)))
    stack = []
    expected, chosen = [], set()
    for step in TREE.transitions:
        if step == 0:
            word = next(words)
            stack.append((table[word + 1], word))
        else:
            right, left = stack.pop(), stack.pop()
            z = 1 / (1 + np.exp(-(np.concatenate([left[0], right[0]]) @ w + b)))
            x = z * left[0] + (1 - z) * right[0]
            like = [x @ y / np.linalg.norm(y) for y, _ in (left, right)]
            chosen.add(int(np.argmax(like)))
            stack.append((x, (left, right)[np.argmax(like)][1]))
        expected.append(stack[-1][1])
    (found,) = Lexicalised(bundle).heads([TREE])
    assert found.tolist() == expected
    assert chosen == {0, 1}


def test_classes_are_the_best_of_each_node(tmp_path):
    model = Lexicalised(made(tmp_path))
    (alone,), both = model.classes([TREE]), model.classes([Tree.left(WORDS[:3]), TREE])
    assert alone.tolist() == both[1].tolist()
    assert len(alone) == len(TREE) > len(set(alone.tolist())) > 1


def test_a_model_without_head_words_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a classifier of binary trees with head"):
        Lexicalised(made(tmp_path, name="s_lstm.v1"))


def test_shares_count_phrases_by_hand():
    other = from_brackets("(2 (2 (1 It) (1 is)) (2 (2 good) (1 road)))")
    parse = Tree.from_parents([3, 3, 3, -1], other.words, ["nsubj", "cop", "amod", "root"])
    bank = [(tree, label_ids(tree, LABELS)) for tree in (TREE, other)]
    references = References(bank, [PARSE, parse], LABELS.index("neutral"))
    # "It is" has two heads.
    assert (references.phrases, references.counted) == (9, 8)
    left = references.shares([follow(tree, [0] * len(tree)) for tree, _ in bank])
    # Six phrases of the first sentence: good, the, on, is, is, It; of the second: good, It.
    assert left.parse == 0
    assert left.function == pytest.approx(100 * 3 / 8)
    assert left.opinion == pytest.approx(100 * 2 / 8)
    assert left.left == 100
    parsed = references.shares(references.parsed)
    # "road" is on the left only where the full stop is on the right.
    assert (parsed.parse, parsed.opinion, parsed.left) == (100, 0, 100 / 8)
    assert references.shares(references.function).function == 100


def test_shares_of_no_phrase_are_unknown():
    word = from_brackets("(2 good)")
    alone = Tree.from_parents([-1], ["good"], ["root"])
    references = References([(word, label_ids(word, LABELS))], [alone], 1)
    assert all(map(math.isnan, references.shares(references.parsed)))
