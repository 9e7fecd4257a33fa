"""`thinstack`, one process of which kills itself in the middle of the third epoch, but not where it
was started again."""

import os
import signal
import sys
from typing import Any

from thinstack.cli import main
from thinstack.training.loop import epochs as loop

VICTIM = sys.argv.pop(1)
set_rates = loop.set_rates


def kill(optimizers: Any, config: Any, epochs: float) -> None:
    found = os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]
    if epochs > 2.5 and found == (VICTIM, "0"):
        os.kill(os.getpid(), signal.SIGKILL)
    set_rates(optimizers, config, epochs)


if __name__ == "__main__":
    loop.set_rates = kill
    main()
