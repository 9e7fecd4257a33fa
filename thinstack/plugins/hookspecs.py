"""The hooks that a plugin may implement; each takes nothing. All return classes but one, which
returns folders.

A plugin that uses a hook, or a part of a contract, that came with version N of the hooks says so in
its module, as `THINSTACK_HOOKS = N`, an int. A thinstack of an older version then leaves the plugin
out, calls none of its hooks and says what to upgrade. A plugin that does not say is taken to be
written for any version. The versions:

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
    """The bundles that this distribution brings along: their folders, by the names that
    `thinstack.load` and `--model` know them by.

    The entry point names the module of the hook. A model is looked up without importing torch, or
    any entry point that names a class: let the module import nothing that takes long.
    """
    raise NotImplementedError
