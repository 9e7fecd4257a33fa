"""What a plugin author imports: the marker of hook implementations and the specs that hooks return."""

from thinstack.plugins.hookspecs import hookimpl
from thinstack.plugins.specs import CellSpec, HeadSpec, ReaderSpec

__all__ = ["CellSpec", "HeadSpec", "ReaderSpec", "hookimpl"]
