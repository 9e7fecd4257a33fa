"""The hooks that a plugin may implement; each returns specs and takes nothing."""

from collections.abc import Iterable

import pluggy

from thinstack.plugins.specs import CellSpec, HeadSpec, ReaderSpec

__all__ = ["hookimpl", "hookspec", "thinstack_cells", "thinstack_heads", "thinstack_readers"]

PROJECT = "thinstack"

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
def thinstack_readers() -> Iterable[ReaderSpec]:
    """The readers of tree files that this plugin provides."""
    raise NotImplementedError
