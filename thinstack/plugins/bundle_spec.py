"""A bundle that an installed package brings along."""

import os
import re
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from thinstack.errors import PluginError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
CARD = "README.md"
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n\s*", re.DOTALL | re.MULTILINE)
_READ = 1 << 16  # bytes of a card in which its first paragraph is looked for
_SHOWN = 120  # characters of it


class BundleSpec:
    """The name and folder of a bundle. The folder is opened and checked only when it is asked for.

    Raises PluginError for a name that could be a path, and for a folder that is not an absolute
    path.
    """

    kind: ClassVar[str] = "bundle"

    def __init__(self, name: object, folder: object):
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise PluginError(
                f"bundle name {name!r:.80}: expected letters, digits, dots, hyphens and "
                "underscores, such as 'my-model'"
            )
        if not isinstance(folder, os.PathLike) or not Path(folder).is_absolute():
            raise PluginError(
                f"bundle {name!r}: expected its folder as an absolute pathlib.Path, such as "
                f"Path(__file__).parent / 'model', found {folder!r:.200}"
            )
        self.name, self.folder = name, Path(folder)

    def missing(self) -> str | None:
        """What is wrong if the folder is not there, else None."""
        if os.path.isdir(self.folder):
            return None
        return f"{self.folder}: no such folder; install the distribution again"

    @property
    def summary(self) -> str:
        """The bundle's size on disk in MB, and the start of the first paragraph of its card."""
        size, card = 0, b""
        with suppress(OSError):
            size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
            with (self.folder / CARD).open("rb") as file:
                card = file.read(_READ)
        text = FRONT_MATTER.sub("", card.decode("utf-8", "replace"))
        paragraphs = text.split("\n\n")
        first = next((each for each in paragraphs if each and not each.startswith("#")), "")
        shown = textwrap.shorten(first, _SHOWN, placeholder=" ...")
        return ": ".join(filter(None, (f"{size / 1e6:.1f} MB", shown)))
