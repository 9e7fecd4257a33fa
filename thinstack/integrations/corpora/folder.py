"""The output folder of a run: parts with scored rows, failed rows, and leftovers of a killed
process."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from thinstack.data.files.lock import LOCK
from thinstack.data.files.paths import check_new_folder
from thinstack.data.files.writing import replacing
from thinstack.errors import InputError
from thinstack.integrations.corpora.part_files import PartFormat
from thinstack.integrations.corpora.run_manifest import MANIFEST

SPOOL: Final = "standard-input"
"""What came by standard input, until all of it is scored."""

_ERRORS: Final = "errors"
_PARTIAL: Final = ".partial"
_HOLDS: Final = (
    "the scores as part-000000.{} and so on (the name of one file ends in .csv, .jsonl or .parquet)"
)


class OutFolder(NamedTuple):
    """A folder of parts in one format. If a part exists, it is whole. So are its failed rows, which
    are written before it."""

    path: Path
    format: PartFormat

    def prepare(self) -> None:
        """Make the folder. Raises InputError if it cannot be made, has the name of a file, or
        holds anything but scored rows."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path}: expected a folder for --out, found a file")
        check_new_folder(self.path, "--out", _HOLDS.format(self.format))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"the folder cannot be made: {error.strerror or error}"
            raise InputError(f"{self.path}: {problem}; name another one with --out") from None
        there = {file.name for file in self.path.iterdir() if not file.name.endswith(_PARTIAL)}
        strangers = there - {LOCK, SPOOL, MANIFEST}
        if strangers and MANIFEST not in there:
            raise InputError(
                f"{self.path}: expected an empty folder or a folder of scored rows, found "
                f"{min(strangers)!r} and no {MANIFEST}; name another folder with --out"
            )

    def clean(self) -> None:
        """Remove the files that a killed process has left half written."""
        for file in [*self.path.glob(f"*{_PARTIAL}"), *self._errors.glob(f"*{_PARTIAL}")]:
            file.unlink(missing_ok=True)

    def part(self, number: int) -> Path:
        """The file for a shard's rows."""
        return self.path / f"part-{number:06d}.{self.format}"

    def done(self) -> set[int]:
        """The shards that are written."""
        names = (path.name for path in self.path.glob(f"part-*.{self.format}"))
        matches = (re.fullmatch(rf"part-([0-9]{{6,18}})\.{self.format}", name) for name in names)
        return {int(match[1]) for match in matches if match}

    def failed(self, number: int) -> int:
        """How many rows of a shard have failed. Raises InputError if that cannot be read."""
        path = self.failed_part(number)
        try:
            return path.read_bytes().count(b"\n")
        except FileNotFoundError:
            return 0
        except OSError as error:
            problem = f"the failed rows cannot be read: {error.strerror or error}"
            raise InputError(f"{path}: {problem}; name another folder with --out") from None

    def write_failed(self, number: int, lines: str) -> None:
        """Write the failed rows of a shard, if there are any. Raises OSError."""
        if not lines:
            self.failed_part(number).unlink(missing_ok=True)
            return
        with replacing(self.failed_part(number)) as temporary:
            temporary.write_text(lines, encoding="utf-8")

    @property
    def _errors(self) -> Path:
        return self.path / _ERRORS

    def failed_part(self, number: int) -> Path:
        """The file for a shard's failed rows; it is there only if there are any."""
        return self._errors / f"part-{number:06d}.jsonl"
