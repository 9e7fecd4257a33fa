"""Puts sentences into batches that need a bounded amount of memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set, Sized
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from thinstack.core.forest import EMPTY
from thinstack.core.transitions import first_fault
from thinstack.data.tables.containers import check_container, instead_of
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import DeviceError, InputError, raised_by_signal_handler, shown

_PLAIN = {list, tuple}
_BY_TEXT = "model(text) reads texts"

IntArray = NDArray[np.int64]
Item = TypeVar("Item")
Value = TypeVar("Value")
Error = TypeVar("Error", bound=Exception)

BATCH_NODES: Final = {"cpu": 1536, "cuda": 1 << 17, "webgpu": 1 << 15}
"""Nodes of a batch at most (or one sentence), by device. A core is busy with a few dozen sentences,
and takes 0.86 of the time for 64 if they run as two batches, of the shorter and the longer ones.
On a GPU each operator of each step is a launch of 5 to 10 us, however few rows it has; 3,500
sentences share what 110 would. The tables of the bundled model then take about half a GB. An
estimate: `lab/benchmarks/gpu.py` tells the speed of other sizes. For WebGPU all limits are such
that each tensor fits into 128 MiB, which every device of WebGPU binds to a kernel."""

BATCH_TEXTS: Final = {"cpu": 1 << 8, "cuda": 1 << 12, "webgpu": 1 << 10}
"""Texts whose sentences go to the model in one call, by device: enough to fill a batch
with some of like lengths, which takes 0.95 of the time that 128 take on a CPU."""

BATCH_CHARACTERS: Final = 1 << 19
"""Characters of the texts that go to the model in one call, at most, or one text: what many long
texts hold at once stays bounded, and a text does not wait for a long one behind it."""

BATCH_WORDS: Final = {"cpu": 1 << 15, "cuda": 1 << 20, "webgpu": 1 << 17}
"""Characters of the words of a batch at most (or one sentence), by device. A character may be a
word piece, which takes some 1.6 kB. Words that are not very long fill a batch of nodes before."""

FEW_NODES: Final = 256
"""Nodes of a batch that is not cut further to give each thread one: half of them take more than
half of the time."""

BATCH_PIECES: Final = {"cpu": 768, "cuda": 1 << 14, "webgpu": 1 << 12}
"""Places of a batch at most (or one sentence) where words are read in their context: sentences
times the pieces of the widest, by device. More places make fewer steps of trees, and fewer fit
into a core's second cache: 512 to 1,024 are as fast, 384 takes 1.00 to 1.07 times as long. On a
GPU, attention between pieces of sentences of 512 takes 0.4 GB, 0.1 GB for WebGPU."""


def in_batches(
    items: Iterable[Item], most: int, size: Callable[[Item], int], total: int
) -> Iterator[list[Item]]:
    """The items in order, in lists of at most `most` items and at most `total` size. An item that
    is larger than `total` gets a list to itself.

    A list is given as soon as it is full, before the next item is asked for. If `items` raises an
    error, the items before it are given first.
    """
    batch, taken, problem = list[Item](), 0, None
    try:
        for item in items:
            cost = size(item)
            if batch and taken + cost > total:
                yield batch
                batch, taken = [], 0
            batch.append(item)
            taken += cost
            if len(batch) == most or taken >= total:
                yield batch
                batch, taken = [], 0
    except Exception as error:
        problem = error
    if batch:
        yield batch
    if problem is not None:
        raise problem


def each_part(
    batch: Sequence[Item], run: Callable[[Sequence[Item]], Value], errors: type[Error]
) -> Iterator[tuple[Sequence[Item], Value | Error]]:
    """Run a batch, and give the result; or give the results of its parts, in order.

    A batch that fails with one of `errors` is halved, and so are its halves. What fails by itself
    is given with its error. What a signal handler of the program raises goes through, and so does a
    DeviceError of a single part: the next would fail as well.
    """
    try:
        result = run(batch)
    except errors as error:
        if raised_by_signal_handler(error):
            raise
        if len(batch) == 1:
            if isinstance(error, DeviceError):
                raise
            yield batch, error
            return
    else:
        yield batch, result
        return
    middle = len(batch) // 2
    for half in (batch[:middle], batch[middle:]):
        yield from each_part(half, run, errors)


def batches(
    lengths: Sequence[int],
    trees: Sequence[NDArray[np.integer]] | None,
    *,
    nodes: int,
    widths: Sequence[int] | None = None,
    pieces: int = BATCH_PIECES["cpu"],
    heights: Sequence[int] | None = None,
    counts: Sequence[int] | None = None,
    characters: int = BATCH_WORDS["cpu"],
    threads: int = 1,
) -> Iterator[tuple[list[int], IntArray]]:
    """The positions of the sentences of each batch, shortest sentences first, and the transitions
    (N,) of their trees, empty without `trees`. Raises InputError as `joined_transitions` does.

    A batch has at most `nodes` nodes, or it is a single sentence. The sentences of a batch have
    similar lengths, because a batch takes as many steps as its deepest tree has levels. If the
    model reads words in their context, `widths` gives the pieces of each sentence. Sentences are
    then sorted by pieces, and a batch as wide as its widest sentence has at most `pieces` of them.
    `counts`: the characters of the words of each sentence; a batch has at most `characters`, or it
    is a single sentence. If texts are read as one tree, they take the place of sentences: `heights`
    gives the sentences of each, and `widths` its widest. With several `threads` there are at least
    as many batches, unless they would have fewer than `FEW_NODES` nodes.
    """
    if threads > 1:
        share = -(-sum(2 * length - 1 for length in lengths) // threads)
        nodes = min(nodes, max(share, FEW_NODES))
    batch: list[int] = []
    room, left, height = nodes, characters, 0
    order = (lengths if widths is None else widths).__getitem__
    for place in sorted(range(len(lengths)), key=order):
        size, letters = 2 * lengths[place] - 1, 0 if counts is None else counts[place]
        sentences = 1 if heights is None else heights[place]
        height += sentences
        wide = widths is not None and height * widths[place] > pieces
        if batch and (size > room or letters > left or wide):
            yield _joined(batch, trees, lengths)
            batch, room, left, height = [], nodes, characters, sentences
        batch.append(place)
        room, left = room - size, left - letters
    if batch:
        yield _joined(batch, trees, lengths)


def _joined(
    positions: list[int], trees: Sequence[NDArray[np.integer]] | None, lengths: Sequence[int]
) -> tuple[list[int], IntArray]:
    return positions, EMPTY if trees is None else joined_transitions(trees, lengths, positions)


def piece_counts(sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> list[int]:
    """The word pieces of each sentence."""
    return [int(vocabulary.fields(words)["pieces_per_word"].sum()) for words in sentences]


def character_counts(sentences: Sequence[Sequence[str]]) -> list[int]:
    """The characters of the words of each sentence. Raises InputError, naming the place, if a word
    is not a string."""
    try:
        return [sum(map(len, words)) for words in sentences]
    except TypeError:
        for place, words in enumerate(sentences):
            check_words(words, place)
        raise


def joined_transitions(
    trees: Sequence[NDArray[np.integer]], lengths: Sequence[int], positions: Sequence[int]
) -> IntArray:
    """The transitions (N,) of the trees at these positions. Raises InputError, naming the position,
    unless each is a single binary tree over the words of its sentence."""
    chosen = [np.ravel(trees[position]) for position in positions]
    sizes = [*map(len, chosen)]
    for position, size in zip(positions, sizes, strict=True):
        if size != 2 * lengths[position] - 1:
            words = lengths[position]
            raise InputError(
                f"sentence {position} has {words} words, so its tree has {2 * words - 1} "
                f"transitions; found {size}"
            )
    joined = np.concatenate(chosen)
    if not np.issubdtype(joined.dtype, np.integer):
        raise InputError(f"transitions must be integers, found {joined.dtype}")
    if fault := first_fault(joined, np.array(sizes)):
        raise InputError(f"sentence {positions[fault[0]]}: {fault[1]}")
    return joined.astype(np.int64, copy=False)


def listed(sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The sentences as lists or tuples: a column of a DataFrame may not number by place what is in
    it. Raises InputError as `check_sentences` does."""
    if type(sentences) in _PLAIN and set(map(type, sentences)) <= _PLAIN:
        return sentences
    check_sentences(sentences)
    return [words if type(words) in _PLAIN else list(words) for words in sentences]


def lengths_of(sentences: Sequence[Sequence[str]]) -> list[int]:
    """The words of each sentence. Raises InputError for one without words."""
    lengths = [*map(len, sentences)]
    if 0 in lengths:
        place = lengths.index(0)
        raise InputError(f"sentence {place} has no words: leave empty sentences out")
    return lengths


def check_sentences(sentences: object) -> None:
    """Raise InputError, naming the place, unless these are lists of words; words are not looked
    at."""
    if isinstance(sentences, str):
        raise InputError(f"expected sentences of words, found {shown(sentences, 60)}: {_BY_TEXT}")
    # An array of two axes has sentences of as many words.
    if not (isinstance(sentences, np.ndarray) and sentences.ndim):
        check_container(sentences, "sentences of words")
    if not (isinstance(sentences, Iterable) and isinstance(sentences, Sized)):
        raise InputError(f"expected sentences of words, found {shown(sentences, 60)}: make a list")
    for place, sentence in enumerate(sentences):
        expected = f"sentence {place}: expected a list of words"
        if isinstance(sentence, str):
            raise InputError(f"{expected}, found a text: {_BY_TEXT}")
        if problem := instead_of(sentence):
            raise InputError(f"{expected}, {problem}")
        ordered = isinstance(sentence, Iterable) and not isinstance(sentence, Set)
        if not (ordered and isinstance(sentence, Sized)):
            raise InputError(f"{expected}, found {shown(sentence, 60)}")


def check_words(sentence: Sequence[str], place: int) -> None:
    """Raise InputError, naming the place of the sentence, if a word is not a string."""
    if odd := [word for word in sentence if not isinstance(word, str)]:
        problem = f"expected words that are strings, found {shown(odd[0])}"
        raise InputError(f"sentence {place}: {problem}")
