"""The kinds of plugins, as one table.

A package provides plugins through entry points of the group `thinstack`. An entry point names a
class, or a module with hooks. A hook is a function without arguments, decorated with
`thinstack.plugins.hookimpl`, that returns a list of classes. `thinstack_bundles` returns a mapping
from names to folders.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pluggy

__all__ = ["HOOKS", "KINDS", "Kind"]

PROJECT: Final = "thinstack"
"""The name of the entry-point group, and of the project in pluggy."""

hookimpl: Final = pluggy.HookimplMarker(PROJECT)
"""Decorator for functions that implement a hook."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of plugin.

    Plugins are classes with a versioned name, derived from the contract. The constructor gets the
    sizes that it names. Its other keyword-only arguments are options, set in a configuration. Tasks
    and lessons are pydantic models, whose fields are the options.

    Attributes:
        name: the `plugin_kind` of the contract.
        contract: dotted name of the base class, which only plugins import; empty for bundles, which
            are folders.
        builtins: dotted name of a folder with a module for each built-in plugin, or of a module
            with a hook; may not exist yet. Names that start with an underscore are ignored.
        sizes: the sizes that thinstack passes to constructors, with their defaults; None for a size
            that is always set.
        needs_torch: whether the built-in plugins need torch.
    """

    name: str
    contract: str
    builtins: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    needs_torch: bool = True

    @property
    def hook(self) -> str:
        """The name of the hook that returns plugins of this kind."""
        return f"thinstack_{self.name}s"

    @property
    def returns(self) -> str:
        """Description of what the hook returns."""
        classes = f"a list of subclasses of {self.contract}"
        return classes if self.contract else "a mapping of names to folders"


CELL: Final = {"input_size": None, "hidden_size": None, "inner_size": 0, "kinds": 1}
ENCODER: Final = ("input_size", "hidden_size", "structure", "words_at_leaves", "kinds", "cell")
HEAD: Final = {"hidden_size": None, "classes": None, "word_size": 0}
EMBEDDING: Final = {"entries": None, "size": None, "dropout": 0.0}
PLUGINS, TRAINING = "thinstack.plugins", "thinstack.training"

TABLE: Final = (
    Kind("cell", f"{PLUGINS}.Cell", f"{PLUGINS}.cells", CELL),
    Kind("head", f"{PLUGINS}.TaskHead", f"{PLUGINS}.heads", HEAD),
    Kind("embedding", f"{PLUGINS}.Embedding", f"{PLUGINS}.embeddings", EMBEDDING),
    Kind("encoder", f"{PLUGINS}.Encoder", f"{PLUGINS}.encoders", dict.fromkeys(ENCODER)),
    Kind("parser", f"{PLUGINS}.Parser", f"{PLUGINS}.parsers", {"input_size": None}),
    Kind("reader", f"{PLUGINS}.Reader", f"{PLUGINS}.readers", needs_torch=False),
    Kind("task", f"{PLUGINS}.Task", f"{TRAINING}.tasks"),
    Kind("lesson", f"{PLUGINS}.Lesson", f"{TRAINING}.lessons"),
    Kind("bundle", "", "thinstack.bundle.bundled", needs_torch=False),
)
"""The kinds, in the order in which plugins are listed."""

KINDS: Final = {kind.name: kind for kind in TABLE}
"""The kinds by name."""

HOOKS: Final = {kind.hook: kind for kind in KINDS.values()}
"""The kinds by the names of their hooks."""
