"""Tree data structures (numpy only) and, in their own modules, the torch contracts and
executors."""

from thinstack.core.forest import Forest
from thinstack.core.tree import Tree

__all__ = ["Forest", "Tree"]
