"""Contract checks of a parser."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from thinstack.core.parser import Parser
from thinstack.errors import ExportError, needs_extra
from thinstack.testing.export_checks import (
    CANNOT,
    FLOAT,
    INT64,
    OTHERWISE_EXPORTED,
    OTHERWISE_SCRIPTED,
    compiled,
    in_onnxruntime,
)
from thinstack.testing.forests import apart, require_alike
from thinstack.testing.subject import ParserSubject

BATCHES: tuple[tuple[int, ...], ...] = ((5, 1, 12, 2), (1,), (2, 3), (40,))
"""Numbers of words of the sentences of some batches."""
LONG = (700, 1, 300)


def distances_of_all_words(subject: ParserSubject) -> None:
    """It is a Parser of the width asked for, and gives L distances for L words, of the type of the
    words."""
    created = subject.create()
    if not isinstance(created, Parser):
        raise AssertionError(
            f"it is a {type(created).__name__}; derive it from thinstack.plugins.Parser"
        )
    if created.input_size != subject.sizes["input_size"]:
        raise AssertionError(
            f"input_size is {created.input_size} where {subject.sizes['input_size']} was asked "
            "for; hand the input_size that __init__ gets on to Parser.__init__"
        )
    for dtype in (torch.float32, torch.float64):
        parser = subject.random(dtype)
        for words, lengths in _batches(subject, dtype):
            found = parser(words, lengths)
            if found.shape != words.shape[:1] or found.dtype != dtype:
                raise AssertionError(
                    f"forward of {len(words)} words of {dtype} gives {tuple(found.shape)} of "
                    f"{found.dtype}; give one distance a word, the last of a sentence included, "
                    "and make new tensors by new_zeros and its like"
                )


def no_words(subject: ParserSubject) -> None:
    """No words have no distances: (0,), in training mode too."""
    for mode in (False, True):
        parser = subject.random().train(mode)
        words, lengths = subject.batch([])
        if tuple(found := parser(words, lengths).shape) != (0,):
            raise AssertionError(f"forward of no words gives {tuple(found)}; give (0,)")


def words_are_kept(subject: ParserSubject) -> None:
    """Neither words nor lengths are overwritten: the encoder reads them after the parser."""
    parser = subject.random()
    for given in _batches(subject, torch.float64):
        before = [part.clone() for part in given]
        parser(*given)
        if apart([given[0], given[1].double()], [before[0], before[1].double()]) > 0:
            raise AssertionError(
                "forward overwrites its arguments; take operations without the trailing underscore"
            )


def sentences_are_apart(subject: ParserSubject) -> None:
    """In evaluation mode the distances of a sentence's gaps do not depend on other sentences."""
    parser = subject.random()
    with torch.no_grad():
        for words, lengths in _batches(subject, torch.float64, (*BATCHES, LONG)):
            together = torch.split(parser(words, lengths), lengths.tolist())
            for number, sentence in enumerate(torch.split(words, lengths.tolist())):
                alone = parser(sentence, lengths[number : number + 1])
                what = f"the distances of sentence {number} of {lengths.tolist()} words, and alone"
                mend = "cut at the bounds that `lengths` give; use no mean or norm over all words"
                require_alike([together[number][:-1]], [alone[:-1]], what, mend)


def parameters_are_used(subject: ParserSubject) -> None:
    """All parameters have a gradient, and it is finite."""
    parser = subject.random()
    words, lengths = subject.batch(BATCHES[0])
    weights = torch.arange(1.0, len(words) + 1, dtype=torch.float64)
    (parser(words, lengths) * weights).sum().backward()
    for name, part in parser.named_parameters():
        if part.grad is None or not bool(part.grad.isfinite().all()) or not bool(part.grad.any()):
            raise AssertionError(
                f"parameter {name!r} has no finite gradient; use it, or leave it out, and take out "
                "detach and .data"
            )


def torchscript(subject: ParserSubject) -> None:
    """Scripted, the parser gives the distances that it gives in eager torch."""
    parser = subject.random()
    scripted = compiled(parser, "parser")
    for words, lengths in (*_batches(subject, torch.float64), subject.batch([])):
        what = f"scripted, the distances of sentences of {lengths.tolist()} words"
        require_alike(
            [scripted(words, lengths)], [parser(words, lengths)], what, OTHERWISE_SCRIPTED
        )


def onnx(subject: ParserSubject) -> None:
    """Exported to ONNX, the parser gives the same distances of gaps in onnxruntime."""
    parser = subject.random(torch.float32)
    run = in_onnxruntime(_exported(parser))
    for words, lengths in _batches(subject, torch.float32):
        with torch.no_grad():
            expected = parser(words, lengths)
        (found,) = run({"words": words.numpy(), "lengths": lengths.numpy()})
        gaps = torch.ones(len(words), dtype=torch.bool)
        gaps[lengths.cumsum(0) - 1] = False
        what = f"in onnxruntime the distances of sentences of {lengths.tolist()} words"
        require_alike([found[gaps]], [expected[gaps]], what, OTHERWISE_EXPORTED, 1e-4)


def _exported(parser: Parser) -> bytes:
    with needs_extra("testing"):
        from thinstack.export.onnx.graph import Graph
        from thinstack.export.onnx.parser import distances
    g = Graph("parser")
    words = g.input("words", FLOAT, ["L", parser.input_size])
    try:
        found = distances(g, parser, words, g.input("lengths", INT64, ["B"]))
    except ExportError as error:
        raise AssertionError(f"{error}. {CANNOT}") from None
    g.output(found, "distances", FLOAT, ["L"])
    return g.model({})


def _batches(
    subject: ParserSubject, dtype: torch.dtype, batches: Sequence[tuple[int, ...]] = BATCHES
) -> Iterator[tuple[Tensor, Tensor]]:
    for sizes in batches:
        words, lengths = subject.batch(sizes)
        yield words.to(dtype), lengths
