"""What a run reads: the tables of a folder, and bundles; and their digests."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import MANIFEST_FILE
from thinstack.data.files.paths import FileContent, file_path, why_unreadable
from thinstack.data.words.vectors import vectors_file
from thinstack.errors import DataError
from thinstack.training.recipe import Recipe


class Inputs:
    """The tables of a folder, and bundles. Each is opened once, when it is first asked for; so what
    is learnt has the digest that is noted.

    Attributes:
        folder: where the files of a recipe are.
        teaching: what `taught_trees` takes further, of a recipe with a teacher or lessons.
    """

    def __init__(self, folder: Path):
        self.folder, self.teaching = folder, dict[str, Any]()
        self._tables: dict[str, FileContent] = {}
        self._bundles: dict[str, Bundle] = {}

    @classmethod
    def of(cls, data: "Path | Inputs") -> "Inputs":
        """The inputs of a folder; what are inputs already stay as they are."""
        return data if isinstance(data, Inputs) else cls(data)

    def table(self, name: str) -> FileContent:
        """The table of this name in the folder."""
        return self._tables.setdefault(name, FileContent(self.folder / name))

    def items(self, file: str, recipe: Recipe, errors: list[DataError]) -> list[Any]:
        """The items of a file, at least one. The list `errors` takes those of items that the recipe
        leaves out."""
        task, path = recipe.task, self.folder / file
        items = task.read(path if task.brings_trees else self.table(file), recipe.model, errors)
        if not items:
            more = ", or rename their labels (task.relabel)" if task.brings_trees else ""
            raise DataError(f"{path}: expected examples with a class, found none; label some{more}")
        return items

    def bundle(self, name: str) -> Bundle:
        """The bundle of this name, folder or address."""
        if name not in self._bundles:
            self._bundles[name] = open_bundle(name)
        return self._bundles[name]

    def used(self, names: Iterable[str]) -> list[Path]:
        """Where the files of these names are, and the bundles that were opened."""
        return [*map(self.folder.joinpath, names), *(one.path for one in self._bundles.values())]

    def start(self, recipe: Recipe) -> Bundle | None:
        """The bundle where learning starts, if there is one."""
        return None if recipe.init is None else self.bundle(recipe.init.bundle)


def data_digests(recipe: Recipe, data: Path | Inputs, *more: str) -> dict[str, str]:
    """The SHA-256 of every file that a recipe names, and of `more`, by name. The files are in the
    folder `data`. The digest of a table of `Inputs` is that of the bytes that are learnt from.

    A bundle, where learning starts or of a task, teacher or lesson, is told by its manifest, which
    holds the digests of its files. Encoders of the hub have none. The digest of a folder covers the
    names and digests of its files.

    Raises DataError for a file that cannot be read.
    """
    files, inputs = recipe.data, Inputs.of(data)
    find = inputs.folder.joinpath if recipe.task.brings_trees else inputs.table
    named = (files.train, files.add, files.dev, files.test, *more)
    paths = {name: find(name) for name in named if name is not None}
    if files.vectors is not None:
        paths[files.vectors] = vectors_file(files.vectors, inputs.folder)
    encoders = (*recipe.task.encoders, *filter(None, [files.encoder]))
    folders = {name: inputs.folder / name for name in encoders}
    paths |= {name: folder for name, folder in folders.items() if folder.is_dir()}
    for part in (*recipe.lessons, recipe.task):
        paths |= {name: part.path(name, recipe.folders(inputs.folder)) for name in part.files}
        for name in part.bundles:
            whose = f"the {part.plugin_kind} {part.name}"
            paths[f"the bundle {name} of {whose}"] = inputs.bundle(name).path / MANIFEST_FILE
    if (start := inputs.start(recipe)) is not None:
        paths["the bundle of init"] = start.path / MANIFEST_FILE
    if recipe.teacher is not None:
        parser = [recipe.teacher.parser] if recipe.teacher.parser is not None else []
        for name in (*recipe.teacher.bundles, *parser):
            paths[f"the teacher {name}"] = inputs.bundle(name).path / MANIFEST_FILE
    return {name: _digest(path) for name, path in paths.items()}


def _digest(source: Path | FileContent) -> str:
    path = Path(os.path.abspath(source))
    try:
        if isinstance(source, FileContent):
            return source.sha256()
        if not path.is_dir():
            with file_path(path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        files = sorted(file for file in path.iterdir() if file.is_file())
        lines = "".join(f"{file.name} {_digest(file)}\n" for file in files)
        return hashlib.sha256(lines.encode()).hexdigest()
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {why_unreadable(path, error)}; name the folder of the "
            "data with --data"
        ) from None
