"""Group sentences into batches with bounded memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set, Sized
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from thinstack.core.forest import EMPTY
from thinstack.core.transitions import first_fault
from thinstack.data.tables.containers import check_container, instead_of
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import DeviceError, InputError, raised_by_signal_handler, shown

_PLAIN = {list, tuple}
_BY_TEXT = "use model(text) for text"

IntArray = NDArray[np.int64]
Item = TypeVar("Item")
Value = TypeVar("Value")
Error = TypeVar("Error", bound=Exception)

BATCH_NODES: Final = {"cpu": 1536, "cuda": 1 << 17, "webgpu": 1 << 15}
"""Maximum nodes of a batch (or one sentence), by device. A few dozen sentences keep a core busy,
and 64 take 0.86 of the time if they run as two batches, of the shorter and the longer ones. On a
GPU, each operator of each step is a kernel launch of 5 to 10 us, whatever its number of rows; 3,500
sentences share those of 110. The tables of the bundled model then take about half a GB. Estimated;
`lab/benchmarks/gpu.py` measures other sizes. For WebGPU, all limits keep each tensor within 128
MiB, which every WebGPU device can bind to a kernel."""

BATCH_TEXTS: Final = {"cpu": 1 << 8, "cuda": 1 << 12, "webgpu": 1 << 10}
"""Maximum texts per call of the model, by device: enough for batches of sentences of similar
lengths, which takes 0.95 of the time of 128 on a CPU."""

BATCH_CHARACTERS: Final = 1 << 19
"""Maximum characters of the texts per call of the model (or one text). This bounds the memory for
many long texts, and a text does not wait for a long one after it."""

BATCH_WORDS: Final = {"cpu": 1 << 15, "cuda": 1 << 20, "webgpu": 1 << 17}
"""Maximum characters of the words of a batch (or one sentence), by device. A character may be a
word piece, which takes about 1.6 kB. With words of usual length, the node limit applies first."""

FEW_NODES: Final = 256
"""A batch below this many nodes is not split to occupy more threads: half the nodes take more than
half the time."""

BATCH_PIECES: Final = {"cpu": 768, "cuda": 1 << 14, "webgpu": 1 << 12}
"""Maximum positions of a batch (or one sentence) if words are read in context: sentences times the
pieces of the widest, by device. More positions mean fewer tree steps, but a worse fit into a core's
L2 cache: 512 to 1,024 are equally fast, 384 takes 1.00 to 1.07 times as long. On a GPU, attention
between the pieces of 512-piece sentences takes 0.4 GB, 0.1 GB for WebGPU."""


def in_batches(
    items: Iterable[Item], most: int, size: Callable[[Item], int], total: int
) -> Iterator[list[Item]]:
    """Iterate over lists of at most `most` items and at most `total` size, in order. An item larger
    than `total` gets its own list.

    A list is yielded as soon as it is full, before the next item is requested. If `items` raises an
    error, the items before it are yielded first.
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
    """Run a batch, and yield its result, or the results of its parts in order.

    A batch that fails with one of `errors` is halved recursively. A single item that fails is
    yielded with its error. Exceptions from signal handlers of the program propagate, and so does a
    DeviceError of a single item, because the next one would also fail.
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


class Size(NamedTuple):
    """The size of a tree, or of several that a batch does not separate.

    Attributes:
        words, characters: the number of words, and of their characters.
        pieces: the word pieces of the widest sentence; 0 if words are not read in context.
        sentences: the number of sentences, which are padded to the widest.
    """

    words: int
    characters: int = 0
    pieces: int = 0
    sentences: int = 1

    @classmethod
    def total(cls, sizes: Iterable["Size"]) -> "Size":
        """Return the size of several trees."""
        words, characters, pieces, sentences = zip(*sizes, strict=True)
        return cls(sum(words), sum(characters), max(pieces), sum(sentences))


def batches(
    sizes: Sequence[Size],
    trees: Sequence[NDArray[np.integer]] | None,
    *,
    nodes: int,
    pieces: int = BATCH_PIECES["cpu"],
    characters: int = BATCH_WORDS["cpu"],
    threads: int = 1,
) -> Iterator[tuple[list[int], IntArray]]:
    """Iterate over batches: the indices of their trees, shortest first, and their transitions (N,),
    empty without `trees`. Raises InputError as `joined_transitions` does.

    A batch has at most `nodes` nodes and `characters`, and at most `pieces` if it is padded to its
    widest sentence, or is a single tree. Its trees have similar lengths, because it takes one step
    per level of the deepest; if words are read in context, similar widths. `threads` get a batch
    each, unless it has fewer than `FEW_NODES` nodes.
    """
    lengths = [size.words for size in sizes]

    def joined(batch: list[int]) -> tuple[list[int], IntArray]:
        return batch, EMPTY if trees is None else joined_transitions(trees, lengths, batch)

    if threads > 1:
        share = -(-(2 * sum(lengths) - len(lengths)) // threads)
        nodes = min(nodes, max(share, FEW_NODES))
    batch: list[int] = []
    room, left, height = nodes, characters, 0
    order = [size.pieces or size.words for size in sizes]
    for place in sorted(range(len(sizes)), key=order.__getitem__):
        words, letters, width, sentences = sizes[place]
        size, height = 2 * words - 1, height + sentences
        if batch and (size > room or letters > left or height * width > pieces):
            yield joined(batch)
            batch, room, left, height = [], nodes, characters, sentences
        batch.append(place)
        room, left = room - size, left - letters
    if batch:
        yield joined(batch)


def sizes_of(sentences: Sequence[Sequence[str]], pieces: Sequence[int] | None = None) -> list[Size]:
    """Return the size of each sentence. `pieces`: its number of word pieces, if words are read in
    context. Raises InputError, with the index, for a sentence without words, or with a word that is
    not a string."""
    lengths = [*map(len, sentences)]
    if 0 in lengths:
        place = lengths.index(0)
        raise InputError(f"sentence {place} has no words: remove it")
    try:
        characters = [sum(map(len, words)) for words in sentences]
    except TypeError:
        for place, words in enumerate(sentences):
            check_words(words, place)
        raise
    return [*map(Size, lengths, characters, pieces or [0] * len(lengths))]


def piece_counts(sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> list[int]:
    """Return the number of word pieces of each sentence."""
    return [int(vocabulary.fields(words)["pieces_per_word"].sum()) for words in sentences]


def joined_transitions(
    trees: Sequence[NDArray[np.integer]], lengths: Sequence[int], positions: Sequence[int]
) -> IntArray:
    """Concatenate the transitions (N,) of the trees at these indices. Raises InputError, with the
    index, unless each is a single binary tree over the words of its sentence."""
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
    """Return the sentences as lists or tuples: a DataFrame column may not be indexed by position.
    Raises InputError, with the index, unless these are lists of words; the words are not
    checked."""
    if type(sentences) in _PLAIN and set(map(type, sentences)) <= _PLAIN:
        return sentences
    passed: object = sentences
    if isinstance(passed, str):
        raise InputError(f"expected sentences of words, found {shown(passed, 60)}: {_BY_TEXT}")
    # A two-dimensional array has sentences of equal length.
    if not (isinstance(passed, np.ndarray) and passed.ndim):
        check_container(passed, "sentences of words")
    if not (isinstance(passed, Iterable) and isinstance(passed, Sized)):
        raise InputError(f"expected sentences of words, found {shown(passed, 60)}: pass a list")
    for place, sentence in enumerate(passed):
        expected = f"sentence {place}: expected a list of words"
        if isinstance(sentence, str):
            raise InputError(f"{expected}, found a text: {_BY_TEXT}")
        if problem := instead_of(sentence):
            raise InputError(f"{expected}, {problem}")
        ordered = isinstance(sentence, Iterable) and not isinstance(sentence, Set)
        if not (ordered and isinstance(sentence, Sized)):
            raise InputError(f"{expected}, found {shown(sentence, 60)}")
    return [words if type(words) in _PLAIN else list(words) for words in sentences]


def check_words(sentence: Sequence[str], place: int) -> None:
    """Raise InputError, with the index of the sentence, if a word is not a string."""
    if odd := [word for word in sentence if not isinstance(word, str)]:
        problem = f"expected words as strings, found {shown(odd[0])}"
        raise InputError(f"sentence {place}: {problem}")
