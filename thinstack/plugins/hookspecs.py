"""The hooks that a plugin may implement; each returns specs and takes nothing.

A plugin that uses a hook, or a field of a spec, that came with version N of the hooks says so in
its module, as `THINSTACK_HOOKS = N`, an int. A thinstack of an older version then leaves the plugin
out, calls none of its hooks and says what to upgrade. A plugin that does not say is taken to be
written for any version. The versions:

1. `thinstack_cells`, `thinstack_heads`, `thinstack_embeddings`, `thinstack_readers`.
"""

from collections.abc import Iterable

import pluggy

from thinstack.plugins.specs import CellSpec, EmbeddingSpec, HeadSpec, ReaderSpec

__all__ = [
    "HOOK_VERSION",
    "hookimpl",
    "hookspec",
    "thinstack_cells",
    "thinstack_embeddings",
    "thinstack_heads",
    "thinstack_readers",
]

PROJECT = "thinstack"

HOOK_VERSION = 1
"""Version of the hooks and specs: it grows when there are more of them, and when one of them
changes."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def thinstack_cells() -> Iterable[CellSpec]:
    """The composition cells that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_heads() -> Iterable[HeadSpec]:
    """The task heads that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_embeddings() -> Iterable[EmbeddingSpec]:
    """The leaf embeddings that this plugin provides."""
    raise NotImplementedError


@hookspec
def thinstack_readers() -> Iterable[ReaderSpec]:
    """The readers of tree files that this plugin provides."""
    raise NotImplementedError
