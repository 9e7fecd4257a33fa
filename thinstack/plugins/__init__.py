"""What a plugin author imports beside the contracts of `thinstack.core`."""

from thinstack.plugins.hookspecs import HOOK_VERSION, hookimpl
from thinstack.plugins.specs import Reader

__all__ = ["HOOK_VERSION", "Reader", "hookimpl"]
