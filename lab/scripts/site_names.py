"""What the pages of the API leave out: an extension of griffe that `mkdocs.yml` names."""

from typing import Any

import griffe

INNER = ("delattr", "eq", "hash", "post_init", "reduce", "repr", "setattr", "slots")


class WithoutInnerMethods(griffe.Extension):
    """Leaves out methods that Python calls, and whose signature tells a reader nothing."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Griffe's event: the members of a class were found."""
        for name in INNER:
            if f"__{name}__" in cls.members:
                cls.del_member(f"__{name}__")
