"""Stop a run with a message on Ctrl-C and SIGTERM, and remove partial output."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

from thinstack.errors import StoppedError

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """A signal arrived. Not an `Exception`, so that handlers of model errors do not swallow it."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextmanager
def stoppable(message: str) -> Iterator[None]:
    """If Ctrl-C or SIGTERM stops the block, raise StoppedError with `message` and the notes of the
    error. Its exit code is 128 plus the signal number, as in shells.

    A second signal ends the process at once. Ignored signals stay ignored, as `nohup` requires.
    Only the main thread can call this.
    """
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    caught = [number for number in SIGNALS if handlers[number] != signal.SIG_IGN]

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        for other in caught:
            signal.signal(other, signal.SIG_DFL)
        raise Stopped(number)

    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    except KeyboardInterrupt as error:
        code = 128 + (error.number if isinstance(error, Stopped) else signal.SIGINT)
        notes = getattr(error, "__notes__", ())
        raise StoppedError("".join((message, *notes)), code=code) from None
    finally:
        for number in caught:
            signal.signal(number, handlers[number])
