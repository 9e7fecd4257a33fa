"""The names that an author of plugins imports, beside the contracts in `thinstack.core`."""

from thinstack.plugins.hookspecs import HOOK_VERSION, hookimpl
from thinstack.plugins.reader import Reader

__all__ = ["HOOK_VERSION", "Reader", "hookimpl"]
