"""What a plugin author imports: the marker of hook implementations and the specs that hooks
return."""

from thinstack.plugins.hookspecs import HOOK_VERSION, hookimpl
from thinstack.plugins.specs import CellSpec, EmbeddingSpec, HeadSpec, ReaderSpec

__all__ = ["HOOK_VERSION", "CellSpec", "EmbeddingSpec", "HeadSpec", "ReaderSpec", "hookimpl"]
