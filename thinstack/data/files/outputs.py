"""Output files of commands: none overwrites an input of the command, and an unwritable one is
rejected before the work starts."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from thinstack.data.files.paths import FilePath, any_path
from thinstack.data.files.writing import PARTIAL, is_stream, replacing, staging
from thinstack.errors import InputError

Used: TypeAlias = FilePath | int | None
"""A file or folder that a command reads, or another one that it writes; or a file descriptor, such
as 0 for standard input. None means no file."""


class Output(NamedTuple):
    """A writable file, as returned by `check_output`. `before`: the state of the file then."""

    path: Path
    option: str
    before: tuple[int, ...] | None

    def write(self, content: str | bytes) -> None:
        """Write the whole file, text in UTF-8, with escapes for lone surrogates. Raises InputError
        if another program has created or replaced the file since `check_output`, and leaves it
        alone; OSError."""
        data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
        with replacing(self.path) as temporary:
            temporary.write_bytes(data)
            if _state(self.path) != self.before:
                problem = (
                    "another program has written this file in the meantime, so it was not "
                    "overwritten"
                )
                raise InputError(f"{self.path}: {problem}: choose another with {self.option}")


def check_output(path: FilePath, option: str, used: Iterable[Used] = ()) -> Output:
    """Check the output file `path` of `option`. `Output.write` replaces an existing file. Devices
    and pipes always pass.

    Raises InputError for a folder, as `check_apart` does, and if a trial write fails.
    """
    output = any_path(path)
    try:
        if not is_stream(output):
            if output.is_dir():
                problem = "expected a file to write, found a folder"
                raise InputError(f"{output}: {problem}: choose a file in it with {option}")
            check_apart(output, option, used)
            folder = next(filter(os.path.lexists, output.absolute().parents))
            with staging(folder / output.name, *PARTIAL):
                pass
        return Output(output, option, _state(output))
    except OSError as error:
        problem = f"cannot write this file: {error.strerror or error}"
        raise InputError(f"{output}: {problem}; choose another with {option}") from None


def check_apart(path: Path, option: str, used: Iterable[Used]) -> None:
    """Raise InputError if the output file or folder of `option` is one of those `used`, is inside
    one, or contains one. Links are resolved."""
    places = {path.resolve(), path.parent.resolve() / path.name}
    for other in (other for other in used if other is not None):
        target = None if isinstance(other, int) else Path(other).resolve()
        same = os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
        if same or (target and any(target.is_relative_to(place) for place in places)):
            clash = "would replace"
        elif target and any(place.is_relative_to(target) for place in places):
            clash = "is inside"
        else:
            continue
        what = "the standard input file" if other == 0 else str(other)
        problem = f"{clash} {what}, which this command also reads or writes"
        raise InputError(f"{path}: {problem}: choose another path with {option}")


def _state(path: Path) -> tuple[int, ...] | None:
    """Return a fingerprint that changes if a file is replaced; None for a missing file, a device or
    a pipe."""
    if is_stream(path) or not os.path.lexists(path):
        return None
    status = path.lstat()
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size
