"""Trees and transitions, which need only numpy; contracts and executors, in modules, need torch."""

from typing import TYPE_CHECKING

from thinstack._lazy import lazy

if TYPE_CHECKING:
    from thinstack.core.forest import Forest
    from thinstack.core.tree import Tree
else:
    __getattr__ = lazy(__name__, {"core.forest": "Forest", "core.tree": "Tree"})

__all__ = ["Forest", "Tree"]
