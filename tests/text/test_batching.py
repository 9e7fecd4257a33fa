"""Batches: every sentence once, within the limit, and only whole trees."""

import random
import signal
from itertools import chain, pairwise

import numpy as np
import pytest
from last_word_model import random_tree

from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import InputError
from thinstack.text.batching import (
    Size,
    batches,
    each_part,
    in_batches,
    joined_transitions,
    piece_counts,
)


def of_words(lengths):
    return [Size(length) for length in lengths]


def test_batches_hold_every_sentence_once_within_the_limit():
    lengths = np.array([3, 50, 1, 1, 20, 7, 400, 2, 20])
    found = [positions for positions, _ in batches(of_words(lengths), None, nodes=60)]
    assert sorted(chain.from_iterable(found)) == list(range(9))
    for positions in found:
        assert len(positions) == 1 or (2 * lengths[positions] - 1).sum() <= 60
    for one, following in pairwise(found):
        assert lengths[one].max() <= lengths[following].min()
        assert (2 * lengths[one] - 1).sum() + 2 * lengths[following[0]] - 1 > 60


def test_a_batch_has_few_characters_or_is_one_sentence():
    sizes = [Size(3, 10), Size(3, 4000), Size(1, 90), Size(2, 60), Size(2, 50)]
    found = [each for each, _ in batches(sizes, None, nodes=60)]
    assert found == [[2, 3, 4, 0, 1]]
    cut = batches(sizes, None, nodes=60, characters=120)
    assert [each for each, _ in cut] == [[2], [3, 4, 0], [1]]


def is_tree(steps):
    stack = 0
    for step in steps:
        if step not in (0, 1) or (step == 1 and stack < 2):
            return False
        stack += 1 - 2 * step
    return stack == 1


def test_only_single_trees_are_let_through():
    rng = random.Random(0)
    good = bad = 0
    for _ in range(3000):
        lengths = np.array([rng.randint(1, 4) for _ in range(3)])
        trees = [
            np.array([int(rng.random() < 0.45) for _ in range(2 * n - 1)], np.int8) for n in lengths
        ]
        if rng.random() < 0.6:
            trees = [random_tree(n, rng) for n in lengths]
            trees[rng.randrange(3)][-1] = rng.choice([0, 1, 2, -1])
        positions = np.array([2, 0, 1])
        wrong = [i for i in positions if not is_tree(trees[i].tolist())]
        if not wrong:
            good += 1
            expected = [step for i in positions for step in trees[i].tolist()]
            assert joined_transitions(trees, lengths, positions).tolist() == expected
            continue
        bad += 1
        with pytest.raises(InputError, match=f"sentence {wrong[0]}: transition"):
            joined_transitions(trees, lengths, positions)
    assert min(good, bad) > 100


def test_sentences_in_their_context_are_of_like_widths_and_few_places():
    """Places are sentences times the widest one."""
    widths = zip([3, 3, 1, 3, 2, 1], [5, 4, 20, 6, 5, 1], strict=True)
    sizes = [Size(words, pieces=pieces) for words, pieces in widths]

    def found(nodes):
        cut = batches(sizes, None, nodes=nodes, pieces=20)
        return [positions for positions, _ in cut]

    assert found(40) == [[5, 1, 0, 4], [3], [2]]
    assert found(7) == [[5, 1], [0], [4], [3], [2]]


def test_the_pieces_of_sentences_are_counted():
    vocabulary = WordpieceVocabulary(["[UNK]", "film", "##s"])
    counts = piece_counts([["films", "film"], ["odd"], ["films"] * 3], vocabulary)
    assert counts == [3, 1, 6]


def test_few_sentences_stay_in_one_batch():
    sizes = of_words([12] * 10)
    counts = [len(list(batches(sizes, None, nodes=4096, threads=one))) for one in (1, 2, 8)]
    assert counts == [1, 1, 1]
    counts = [len(list(batches(sizes * 20, None, nodes=4096, threads=n))) for n in (1, 2)]
    assert counts == [2, 2]
    few = list(batches(sizes * 4, None, nodes=4096, threads=2))
    assert [len(positions) for positions, _ in few] == [20, 20]


def test_items_go_in_lists_as_full_as_they_may_be():
    rng = random.Random(0)
    for _ in range(300):
        sizes = [rng.choice([0, 1, 2, 9, 40]) for _ in range(rng.randint(0, 12))]
        most, total = rng.randint(1, 5), rng.randint(1, 20)
        found = list(in_batches(sizes, most, int, total))
        assert list(chain.from_iterable(found)) == sizes
        for one in found:
            assert len(one) == 1 or (1 < len(one) <= most and sum(one) <= total)
        for one, following in pairwise(found):
            assert len(one) == most or sum(one) >= total or sum(one) + following[0] > total


def test_a_full_list_does_not_wait_for_another_item():
    asked = []

    def items():
        for size in (1, 1, 1, 50, 1, 1):
            asked.append(size)
            yield size
        raise OSError("gone")

    found = list[tuple[list[int], int]]()
    with pytest.raises(OSError, match="gone"):
        found.extend((batch, len(asked)) for batch in in_batches(items(), 2, int, 10))
    assert found == [([1, 1], 2), ([1], 4), ([50], 4), ([1, 1], 6)]


# -- where some of a batch fails


@pytest.mark.parametrize("culprits", [set(), {0}, {6}, {2, 3}, set(range(7))])
def test_all_but_the_culprits_have_results_in_order(culprits):
    def run(part):
        if bad := sorted(culprits.intersection(part)):
            raise ValueError(*bad)
        return [-each for each in part]

    results = list(each_part(range(7), run, ValueError))
    assert [each for part, _ in results for each in part] == list(range(7))
    failed = {part[0]: result.args for part, result in results if isinstance(result, ValueError)}
    assert failed == {each: (each,) for each in culprits}
    assert all(isinstance(r, ValueError) or r == [-e for e in part] for part, r in results)


def test_other_errors_and_those_of_signal_handlers_go_through():
    def stop(*_):
        raise ValueError("out of time")

    def ask(part):
        signal.raise_signal(signal.SIGALRM)

    with pytest.raises(ZeroDivisionError):
        list(each_part([0, 0], lambda part: 1 // part[0], ValueError))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(ValueError, match="out of time"):
            list(each_part([0], ask, ValueError))
    finally:
        signal.signal(signal.SIGALRM, before)
