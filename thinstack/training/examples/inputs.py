"""The inputs of a run, the tables of a folder and bundles, and their digests."""

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
    """The tables of a folder, and bundles. Each is opened once, so that the recorded digest is that
    of the data that the model was trained on.

    Attributes:
        folder: the folder of a recipe's files.
        teaching: keyword arguments of `taught_trees`, for a recipe with a teacher or lessons.
        skipped, notes: the errors of skipped items, and sentences about how files were read. Each
            `read_items` starts new ones.
    """

    def __init__(self, folder: Path):
        self.folder, self.teaching = folder, dict[str, Any]()
        self.skipped, self.notes = list[DataError](), list[str]()
        self._tables: dict[str, FileContent] = {}
        self._bundles: dict[str, Bundle] = {}

    @classmethod
    def of(cls, data: "Path | Inputs") -> "Inputs":
        """Return the inputs of a folder, or inputs as they are."""
        return data if isinstance(data, Inputs) else cls(data)

    def table(self, name: str) -> FileContent:
        """Return the table with this name in the folder."""
        return self._tables.setdefault(name, FileContent(self.folder / name))

    def items(self, file: str, recipe: Recipe) -> list[Any]:
        """Read the items of a file. Raises DataError if there are none."""
        task, path = recipe.task, self.folder / file
        source = path if task.brings_trees else self.table(file)
        items = task.read(source, recipe.model, self.skipped)
        if not items:
            more = ", or rename their labels (task.relabel)" if task.brings_trees else ""
            raise DataError(f"{path}: expected examples with a class, found none; label some{more}")
        return items

    def bundle(self, name: str) -> Bundle:
        """Return the bundle with this name, folder or address."""
        if name not in self._bundles:
            self._bundles[name] = open_bundle(name)
        return self._bundles[name]

    def used(self, names: Iterable[str]) -> list[Path]:
        """Return the paths of the files with these names, and of the open bundles."""
        return [*map(self.folder.joinpath, names), *(one.path for one in self._bundles.values())]


def data_digests(recipe: Recipe, data: Path | Inputs, *more: str) -> dict[str, str]:
    """Return {name: SHA-256} of all files that a recipe uses, and of the files `more`, in the
    folder `data`.

    A bundle is represented by its manifest, which contains the digests of its files. The digest of
    a folder covers the names and digests of its files. Encoders on the Hub have no digest. Raises
    DataError for a file that cannot be read.
    """
    files, inputs = recipe.data, Inputs.of(data)
    find = inputs.folder.joinpath if recipe.task.brings_trees else inputs.table
    names = (files.train, files.add, files.dev, files.test, *more)
    paths = {name: find(name) for name in names if name is not None}
    if files.vectors is not None:
        paths[files.vectors] = vectors_file(files.vectors, inputs.folder)
    for name in (*recipe.task.encoders, *filter(None, [files.encoder])):
        if (inputs.folder / name).is_dir():
            paths[name] = inputs.folder / name

    def manifest(bundle: str) -> Path:
        return inputs.bundle(bundle).path / MANIFEST_FILE

    for part in (*recipe.lessons, recipe.task):
        paths |= {name: part.path(name, recipe.folders(inputs.folder)) for name in part.files}
        whose = f"the {part.plugin_kind} {part.name}"
        paths |= {f"the bundle {name} of {whose}": manifest(name) for name in part.bundles}
    if recipe.init is not None:
        paths["the bundle of init"] = manifest(recipe.init.bundle)
    if recipe.teacher is not None:
        teachers = (*recipe.teacher.bundles, *filter(None, [recipe.teacher.parser]))
        paths |= {f"the teacher {name}": manifest(name) for name in teachers}
    return {name: _digest(path) for name, path in paths.items()}


def _digest(source: Path | FileContent) -> str:
    path = Path(os.path.abspath(source))
    try:
        if isinstance(source, FileContent):
            return hashlib.sha256(source.content()).hexdigest()
        if not path.is_dir():
            with file_path(path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        files = sorted(file for file in path.iterdir() if file.is_file())
        lines = "".join(f"{file.name} {_digest(file)}\n" for file in files)
        return hashlib.sha256(lines.encode()).hexdigest()
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {why_unreadable(path, error)}; set the data "
            "folder with --data"
        ) from None
