"""Trees and transitions, which need only numpy. The contracts and executors, which need torch, are
in modules of their own."""

from thinstack.core.forest import Forest
from thinstack.core.tree import Tree

__all__ = ["Forest", "Tree"]
