"""The hooks that a plugin may implement. They take no arguments. All return classes, except
`thinstack_bundles`, which returns folders.

Some hooks, and some parts of contracts, came with version N of the hooks. A plugin that uses one
says so in its module: `THINSTACK_HOOKS = N`, an int. An older thinstack then leaves the plugin out,
without calling its hooks, and says what to upgrade. A plugin without this line counts as written
for any version. The versions:

1. `thinstack_cells`, `thinstack_heads`, `thinstack_embeddings`, `thinstack_encoders`,
   `thinstack_parsers`, `thinstack_readers`, `thinstack_bundles`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pluggy

from thinstack.plugins.specs import Reader

if TYPE_CHECKING:
    from thinstack.core.cell import Cell
    from thinstack.core.embedding import Embedding
    from thinstack.core.encoder import Encoder
    from thinstack.core.head import TaskHead
    from thinstack.core.parser import Parser

__all__ = [
    "HOOK_VERSION",
    "hookimpl",
    "hookspec",
    "thinstack_bundles",
    "thinstack_cells",
    "thinstack_embeddings",
    "thinstack_encoders",
    "thinstack_heads",
    "thinstack_parsers",
    "thinstack_readers",
]

PROJECT = "thinstack"

HOOK_VERSION = 1
"""Version of the hooks: it grows when there are more of them, and when a contract changes."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def thinstack_cells() -> "Iterable[type[Cell]]":
    """The composition cells that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_heads() -> "Iterable[type[TaskHead]]":
    """The task heads that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_embeddings() -> "Iterable[type[Embedding]]":
    """The leaf embeddings that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_encoders() -> "Iterable[type[Encoder]]":
    """The encoders that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_parsers() -> "Iterable[type[Parser]]":
    """The parsers that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_readers() -> Iterable[type[Reader]]:
    """The readers of tree files that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_bundles() -> Mapping[str, Path]:
    """The bundles that this package brings along: their folders, by the names for `thinstack.load`
    and `--model`.

    The entry point names the module of the hook. Looking up a model imports neither torch nor an
    entry point that names a class, so the module should import nothing slow.
    """
    raise NotImplementedError
