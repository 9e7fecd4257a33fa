"""One rule for the files that a command writes for its user: none replaces what the command reads,
and one that cannot be written is refused before the work starts."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from thinstack.data.files.paths import FilePath, any_path
from thinstack.data.files.writing import PARTIAL, is_stream, replacing, staging
from thinstack.errors import InputError

Used: TypeAlias = FilePath | int | None
"""A file or folder that a command reads, or another one that it writes; also the number of an open
file, such as 0 for standard input. None stands for nothing."""


class Output(NamedTuple):
    """A file that may be written, as `check_output` found. `before`: what was there then."""

    path: Path
    option: str
    before: tuple[int, ...] | None

    def write(self, content: str | bytes) -> None:
        """Write the file as a whole, text in UTF-8, with escapes for halves of surrogates. Raises
        InputError if another program has put a file there since `check_output`, which then stays;
        OSError."""
        data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
        with replacing(self.path) as temporary:
            temporary.write_bytes(data)
            if _state(self.path) != self.before:
                problem = (
                    "another program has written this file in the meantime, and it was not "
                    "overwritten"
                )
                raise InputError(f"{self.path}: {problem}: name another with {self.option}")


def check_output(path: FilePath, option: str, used: Iterable[Used] = ()) -> Output:
    """The file to write at `path`, which `option` names. `Output.write` replaces one that is there
    already. Devices and pipes always pass.

    Raises InputError for a folder, as `check_apart` does, and where no file can be written, which
    is tried.
    """
    output = any_path(path)
    try:
        if not is_stream(output):
            if output.is_dir():
                problem = "expected a file to write, found a folder"
                raise InputError(f"{output}: {problem}: name a file in it with {option}")
            check_apart(output, option, used)
            folder = next(filter(os.path.lexists, output.absolute().parents))
            with staging(folder / output.name, *PARTIAL):
                pass
        return Output(output, option, _state(output))
    except OSError as error:
        problem = f"no file can be written there: {error.strerror or error}"
        raise InputError(f"{output}: {problem}; name another with {option}") from None


def check_apart(path: Path, option: str, used: Iterable[Used]) -> None:
    """Raise InputError if a file or folder to write, which `option` names, is one that is `used`
    otherwise, is in such a folder, or has it inside. Links count as what they lead to."""
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
        what = "the file of standard input" if other == 0 else str(other)
        problem = f"{clash} {what}, which this command also reads or writes"
        raise InputError(f"{path}: {problem}: name another place with {option}")


def _state(path: Path) -> tuple[int, ...] | None:
    """What tells a file from another one that takes its place; None without one, and of a device
    or a pipe."""
    if is_stream(path) or not os.path.lexists(path):
        return None
    status = path.lstat()
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size
