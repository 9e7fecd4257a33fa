"""Imports that cost little: of names when they are asked for, as who predicts loads no torch, and
large ones of the program, which stay until it ends."""

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def lazy(
    package: str, names: Mapping[str, str], advice: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """The `__getattr__` of a package, whose `dir` lists its public names from here on. `names`: by
    module of thinstack, names that it has. `advice`: by name that it has not, what to do
    instead."""
    module = sys.modules[package]
    module.__dir__ = lambda: sorted(module.__all__)  # type: ignore[method-assign]
    homes = {name: module for module, some in names.items() for name in some.split()}

    def find(name: str) -> Any:
        if name not in homes:
            instead = f": {advice[name]}" if advice and name in advice else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{instead}")
        value = getattr(import_module(f"thinstack.{homes[name]}"), name)
        setattr(module, name, value)
        return value

    return find


@contextmanager
def imports_that_stay() -> Iterator[None]:
    """Collect no garbage while the block imports, and then never look at what it has imported."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
