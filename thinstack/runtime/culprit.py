"""Finds what makes a batch fail."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from thinstack.errors import DeviceError, raised_by_signal_handler

T = TypeVar("T")
R = TypeVar("R")
E = TypeVar("E", bound=Exception)


def each_part(
    batch: Sequence[T], run: Callable[[Sequence[T]], R], errors: type[E]
) -> Iterator[tuple[Sequence[T], R | E]]:
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
