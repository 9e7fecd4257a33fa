"""Stop a run with a message on Ctrl-C and SIGTERM, and remove partial output."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from thinstack.errors import StoppedError


@contextmanager
def stoppable(message: str) -> Iterator[None]:
    """If Ctrl-C or SIGTERM stops the block, raise StoppedError with `message` and the notes of the
    error. Its exit code is 128 plus the signal number, as in shells.

    A second signal ends the process at once. Ignored signals stay ignored, as `nohup` requires.
    Only the main thread can call this.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    caught = [number for number, handler in handlers.items() if handler != signal.SIG_IGN]
    code = 128 + signal.SIGINT

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        nonlocal code
        code = 128 + number
        for other in caught:
            signal.signal(other, signal.SIG_DFL)
        raise KeyboardInterrupt(signal.Signals(number).name)

    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    except KeyboardInterrupt as error:
        notes = getattr(error, "__notes__", ())
        raise StoppedError("".join((message, *notes)), code=code) from None
    finally:
        for number in caught:
            signal.signal(number, handlers[number])
