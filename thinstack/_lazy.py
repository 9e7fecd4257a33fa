"""Names of a package that are imported when they are asked for: who predicts loads no torch."""

import sys
from collections.abc import Callable, Mapping
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
