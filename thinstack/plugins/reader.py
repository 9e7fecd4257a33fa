"""The contract of a reader of tree files."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from thinstack.core import Tree
from thinstack.errors import PluginError, TreeError, shown
from thinstack.plugins.specs import plugin_errors


class Reader:
    """The contract of a reader of tree files. A reader does not need torch.

    Attributes:
        name: a versioned name, such as `my_format.v1`, for recipes and `thinstack evaluate`.
        summary: a description of the format in one line.
        read: a static method that takes the path and returns the `thinstack.Tree`s. It raises
            TreeError for the first malformed tree. It may also take `skipped`. If that is a list,
            the reader skips malformed trees and appends their errors to the list.

    Raises PluginError for a class without `read`.
    """

    plugin_kind: ClassVar[str] = "reader"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    read: ClassVar[Callable[..., list[Tree]]]

    def __init_subclass__(cls, **keywords: Any):
        super().__init_subclass__(**keywords)
        if not callable(getattr(cls, "read", None)):
            raise PluginError(f"reader {cls.__name__} must define the static method `read`")

    @classmethod
    def trees(cls, path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Tree]:
        """Read the trees of a file. With a list `skipped`, malformed trees are omitted, and their
        errors appended to it.

        Raises the reader's error if it is from thinstack.errors. Raises PluginError for other
        errors, for a result that is not a list of trees, and if the reader cannot skip.
        """
        keywords = {} if skipped is None else {"skipped": skipped}
        if keywords and "skipped" not in inspect.signature(cls.read).parameters:
            raise PluginError(
                f"reader {cls.name!r} cannot skip malformed trees: add `skipped` to its `read`"
            )
        with plugin_errors(f"reader {cls.name!r} failed on {path}"):
            trees = list(cls.read(path, **keywords))
        for tree in trees:
            if not isinstance(tree, Tree):
                raise PluginError(
                    f"reader {cls.name!r} must return a list of thinstack.Tree; the list "
                    f"contains {shown(tree)}"
                )
        return trees
