"""Output of a run: a folder of parts with scored rows, failed rows, and leftovers of a killed
process; or one file, whose parts are in a hidden folder next to it until all is scored."""

import codecs
import filecmp
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from thinstack.data.files.outputs import Used, check_output
from thinstack.data.files.writing import LOCK, replacing, write_atomically
from thinstack.data.tables.cell_text import csv_line
from thinstack.errors import InputError
from thinstack.integrations.corpora.inputs import Problem, Row
from thinstack.integrations.corpora.run_manifest import MANIFEST, read_run_manifest
from thinstack.integrations.corpora.scored_rows import GROUP, Layout, PartFormat

SPOOL: Final = "standard-input"
"""The copy of standard input, until all of it is scored."""

_ERRORS: Final = "errors"
_PARTIAL: Final = ".partial"
_LONGEST: Final = 300  # characters of a reason
_FORMATS: Final[dict[str, PartFormat]] = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


class OutFolder(NamedTuple):
    """A folder of parts in one format. An existing part is complete, and so are its failed rows,
    which are written first."""

    path: Path
    format: PartFormat

    def check(self) -> None:
        """Raise InputError for a folder that contains anything but scored rows."""
        there = {file.name for file in self.path.iterdir()} if self.path.is_dir() else set()
        strangers = {name for name in there if not name.endswith(_PARTIAL)} - {LOCK, SPOOL}
        if strangers and MANIFEST not in there:
            raise InputError(
                f"{self.path}: expected an empty folder or a folder of scored rows, found "
                f"{min(strangers)!r} and no {MANIFEST}; choose another folder with --out"
            )

    @contextmanager
    def tidied(self) -> Iterator[None]:
        """Remove incomplete files before and after the block, even after an exception."""
        self.clean()
        try:
            yield
        finally:
            self.clean()
            (self.path / SPOOL).unlink(missing_ok=True)

    def clean(self) -> None:
        """Remove the incomplete files of a killed process."""
        for file in self.path.rglob(f"*{_PARTIAL}"):
            file.unlink(missing_ok=True)

    def part(self, number: int) -> Path:
        """Return the path of a shard's rows."""
        return self.path / f"part-{number:06d}.{self.format}"

    def done(self) -> set[int]:
        """Return the shards that are written."""
        names = (path.stem for path in self.path.glob(f"part-*.{self.format}"))
        return {int(name[5:]) for name in names if re.fullmatch("part-[0-9]{6,18}", name)}

    def failed(self, number: int) -> int:
        """Count the failed rows of a shard. Raises OSError."""
        path = self.failed_part(number)
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def write_failed(self, number: int, failed: Sequence[tuple[Row, Problem]]) -> None:
        """Write the failed rows of a shard, if any: one JSON object per line with `id` (null if it
        cannot be read), `kind` and `message`. Raises OSError."""
        records = ({"id": row.id, **problem._asdict()} for row, problem in failed)
        if lines := "".join(f"{json.dumps(record)}\n" for record in records):
            write_atomically(self.failed_part(number), lines)
        else:
            self.failed_part(number).unlink(missing_ok=True)

    def failed_part(self, number: int) -> Path:
        """Return the path of a shard's failed rows, which exists only if there are any."""
        return self.path / _ERRORS / f"part-{number:06d}.jsonl"


def file_format(out: Path) -> PartFormat | None:
    """Return the format of `out` by its extension if it is a file; None if it is a folder."""
    return None if out.is_dir() else _FORMATS.get(out.suffix.lower())


def parts_folder(file: Path) -> Path:
    """Return the folder of the parts of a file."""
    return file.with_name(f".{file.name}.parts")


def failed_file(file: Path) -> Path:
    """Return the path of the failed rows, which exists only if there are any."""
    return file.with_name(f"{file.name}.errors.jsonl")


def first_reason(failed: Path) -> str:
    """Return why the first of the failed rows has failed. `failed`: their file, or the folder of
    such files."""
    try:
        path = min(failed.glob("*.jsonl")) if failed.is_dir() else failed
        with path.open(encoding="utf-8") as lines:
            return f"{json.loads(next(lines))['message']:.{_LONGEST}}"
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return "cannot be read"


def check_new_file(file: Path, used: Iterable[Used]) -> None:
    """Raise InputError as `check_output` does, and if the file exists, unless its parts are
    finished: a run that was killed at its end has left both, and continues."""
    manifest = read_run_manifest(parts_folder(file))
    for path in (file, failed_file(file)):
        check_output(path, "--out", used)
        if path.exists() and (manifest is None or manifest.finished is None):
            raise _is_there(path)


def join_parts(
    folder: OutFolder, shards: int, file: Path, layout: Layout, *, bom: bool = False
) -> None:
    """Write the rows of all shards to one file, and the failed rows to another. Each is written
    atomically. `bom`: whether to write a byte order mark. Raises InputError if another file exists
    by then; OSError."""
    parts = [folder.part(number) for number in range(shards)]
    with _new(file) as temporary:
        if folder.format == "parquet":
            _merge_parquet(parts, temporary)
        else:
            names = csv_line(layout.csv_columns) if folder.format == "csv" else ""
            _concatenate(parts, temporary, len(names.encode()), codecs.BOM_UTF8 if bom else b"")
    failed = [folder.failed_part(number) for number in range(shards)]
    if there := [path for path in failed if path.exists()]:
        with _new(failed_file(file)) as temporary:
            _concatenate(there, temporary)


@contextmanager
def _new(file: Path) -> Iterator[Path]:
    """Yield a path for a new file, as `replacing` does. Another file that exists by then is kept;
    one with the same bytes is from a run that was killed later."""
    with replacing(file) as temporary:
        yield temporary
        if file.exists() and not filecmp.cmp(file, temporary, shallow=False):
            raise _is_there(file)


def _is_there(file: Path) -> InputError:
    return InputError(
        f"{file}: already exists: choose another file with --out, or remove this one first"
    )


def _concatenate(parts: Sequence[Path], file: Path, header: int = 0, start: bytes = b"") -> None:
    """Concatenate the parts, with `start` and one of their headers (`header` bytes) at the top."""
    with file.open("wb") as whole:
        whole.write(start)
        for number, path in enumerate(parts):
            with path.open("rb") as part:
                part.seek(header if number else 0)
                shutil.copyfileobj(part, whole, 1 << 20)


def _merge_parquet(parts: Sequence[Path], path: Path) -> None:
    """Concatenate several parquet files to one."""
    from pyarrow import parquet

    with parquet.ParquetWriter(path, parquet.read_schema(parts[0])) as writer:
        for part in parts:
            with parquet.ParquetFile(part) as file:
                for batch in file.iter_batches(GROUP):
                    writer.write_batch(batch)


def remove_parts(folder: OutFolder) -> None:
    """Remove the parts of a complete file. The manifest is removed last, so that a run that is
    killed here can continue."""
    for path in folder.path.glob("[!.]*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != MANIFEST:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder.path, ignore_errors=True)
