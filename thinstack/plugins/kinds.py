"""The kinds of plugins, as one table.

A package provides plugins by entry points of the group `thinstack`. An entry point names a class,
or a module with hooks. A hook is a function without arguments, decorated with
`thinstack.plugins.hookimpl`. It returns a list of classes; `thinstack_bundles` returns a mapping of
names to folders.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["HOOKS", "KINDS", "Kind"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of plugins.

    Its plugins are classes that derive from the contract. Each has a versioned name. Its
    constructor gets the sizes that it names; its other keyword-only arguments are options, which a
    configuration gives. If a class has an attribute `settings`, a pydantic model, then the fields
    of that are the options, and the constructor gets the settings alone.

    Attributes:
        name: the `plugin_kind` of the contract.
        contract: the dotted name of a class. Only plugins import it. Bundles have none, because
            they are folders.
        builtins: the dotted name of a folder with a module for each built-in plugin, or of a module
            with a hook. There may be none yet. Names with an underscore before them are no plugins.
        sizes: what thinstack passes to constructors, each with the value that it has unless it is
            said; None if it always is.
        needs_torch: whether the built-in plugins need torch.
        noun: what it is called in messages, if not by its name.
        advice: what helps if there is no plugin of a name.
    """

    name: str
    contract: str
    builtins: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    needs_torch: bool = True
    noun: str = ""
    advice: str = ""

    @property
    def hook(self) -> str:
        """The name of the hook that returns plugins of this kind."""
        return f"thinstack_{self.name}s"


KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind(
            "cell",
            "thinstack.plugins.Cell",
            "thinstack.plugins.cells",
            {"input_size": None, "hidden_size": None, "inner_size": 0, "kinds": 1},
        ),
        Kind(
            "head",
            "thinstack.plugins.TaskHead",
            "thinstack.plugins.heads",
            {"hidden_size": None, "classes": None, "word_size": 0},
        ),
        Kind(
            "embedding",
            "thinstack.plugins.Embedding",
            "thinstack.plugins.embeddings",
            {"entries": None, "size": None, "dropout": 0.0},
        ),
        Kind(
            "encoder",
            "thinstack.plugins.Encoder",
            "thinstack.plugins.encoders",
            dict.fromkeys(
                ("input_size", "hidden_size", "structure", "words_at_leaves", "kinds", "cell")
            ),
        ),
        Kind(
            "parser", "thinstack.plugins.Parser", "thinstack.plugins.parsers", {"input_size": None}
        ),
        Kind("reader", "thinstack.plugins.Reader", "thinstack.plugins.readers", needs_torch=False),
        Kind("task", "thinstack.training.task.Task", "thinstack.training.tasks"),
        Kind("lesson", "thinstack.training.lesson.Lesson", "thinstack.training.lessons"),
        Kind(
            "bundle",
            "",
            "thinstack.bundle.bundled",
            needs_torch=False,
            noun="model",
            advice="pip install a package that brings it along, or give the path of a bundle's "
            "folder",
        ),
    )
}
"""The kinds by name, in the order in which plugins are listed."""

HOOKS: Final = {kind.hook: kind for kind in KINDS.values()}
"""The kinds by the names of their hooks."""
