"""Large imports of the program, which stay until it ends."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def imports_that_stay() -> Iterator[None]:
    """Collect no garbage while the block imports, and then never look at what it has imported."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
