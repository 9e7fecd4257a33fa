"""Ctrl-C and SIGTERM stop a run with a message, and all that it has begun to write is removed."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NoReturn

from thinstack.errors import StoppedError

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

Handlers = dict[signal.Signals, Any]


class Stopped(KeyboardInterrupt):
    """A signal has come. No `Exception`, for code that hides errors of models must not hide it."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.number = number


def stopped_error(error: KeyboardInterrupt, said: str) -> StoppedError:
    """What to raise in place of `error`: `said` and the notes of the error. The exit code is 128
    and the number of the signal, as shells have it."""
    number = error.number if isinstance(error, Stopped) else signal.SIGINT
    notes = getattr(error, "__notes__", ())
    return StoppedError("".join((said, *notes)), code=128 + number)


@contextmanager
def stoppable(said: str) -> Iterator[None]:
    """Where Ctrl-C or SIGTERM stops the block, raise StoppedError, which says `said`.

    The second signal ends the process at once. Only the main thread can call this.
    """
    before = catch_signals(again=signal.SIG_DFL)
    try:
        yield
    except KeyboardInterrupt as error:
        raise stopped_error(error, said) from None
    finally:
        restore_signals(before)


def catch_signals(*, again: signal.Handlers) -> Handlers:
    """Raise `Stopped` at the first signal, and let `again` handle those that follow. Returns the
    handlers that were there. A signal that was ignored is still ignored, as `nohup` wants it."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        for each in before:
            signal.signal(each, again)
        raise Stopped(number)

    found = {each: signal.getsignal(each) for each in SIGNALS}
    before = {each: handler for each, handler in found.items() if handler != signal.SIG_IGN}
    for each in before:
        signal.signal(each, stop)
    return before


def restore_signals(handlers: Handlers) -> None:
    """Put back what `catch_signals` has returned."""
    for number, handler in handlers.items():
        signal.signal(number, handler)
