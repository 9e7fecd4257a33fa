"""What a run reads: the tables of a folder, and bundles."""

from pathlib import Path

from thinstack.bundle import Bundle, open_bundle
from thinstack.data.files.content import FileContent
from thinstack.training.recipe import Recipe

__all__ = ["Inputs"]


class Inputs:
    """The tables of a folder, and bundles. Each is opened once, when it is first asked for; so what
    is learnt has the digest that is noted.

    Attributes:
        folder: where the files of a recipe are.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._tables: dict[str, FileContent] = {}
        self._bundles: dict[str, Bundle] = {}

    @classmethod
    def of(cls, data: "Path | Inputs") -> "Inputs":
        """The inputs of a folder; what are inputs already stay as they are."""
        return data if isinstance(data, Inputs) else cls(data)

    def table(self, name: str) -> FileContent:
        """The table of this name in the folder."""
        return self._tables.setdefault(name, FileContent(self.folder / name))

    def hold(self, name: str, content: bytes) -> None:
        """Take `content` for what the table of this name holds."""
        self._tables[name] = FileContent(self.folder / name, content)

    def bundle(self, name: str) -> Bundle:
        """The bundle of this name, folder or address. Raises what `open_bundle` raises."""
        if name not in self._bundles:
            self._bundles[name] = open_bundle(name)
        return self._bundles[name]

    def start(self, recipe: Recipe) -> Bundle | None:
        """The bundle where learning starts, if there is one. Raises what `open_bundle` raises."""
        return None if recipe.init is None else self.bundle(recipe.init.bundle)
