"""The built-in tasks, one in each module or folder without a leading underscore."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from thinstack.errors import UnknownNameError
from thinstack.training.task import Task

__all__ = ["find_task", "tasks"]


def find_task(name: str) -> type[Task]:
    """The task of this name. Raises UnknownNameError, which lists the known tasks."""
    if name not in tasks():
        raise UnknownNameError("task", name, [*tasks()])
    return tasks()[name]


@cache
def tasks() -> dict[str, type[Task]]:
    """All tasks by name."""
    found = {}
    for module in iter_modules(__path__):
        if not module.name.startswith("_"):
            loaded = import_module(f"{__name__}.{module.name}")
            kind = getattr(loaded, loaded.__all__[0])
            found[kind.name] = kind
    return found
