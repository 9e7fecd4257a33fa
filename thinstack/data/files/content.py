"""A file that is read once: who needs it again takes the bytes from memory."""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from thinstack.data.files.paths import FilePath, file_path


class FileContent(os.PathLike[str]):
    """The bytes of a file. They are read when somebody first asks for them, and then kept.

    It goes wherever the path of a table goes. `content`: the bytes, or what reads them; by default
    it reads the file at `path`, and raises OSError, and DataError as `file_path` does.
    """

    def __init__(self, path: FilePath, content: bytes | Callable[[], bytes] | None = None):
        self.path = Path(path)
        self.content: Callable[[], bytes]
        if isinstance(content, bytes):
            self.content = lambda: content
        else:
            self.content = content or cache(lambda: file_path(self.path).read_bytes())

    @classmethod
    def of(cls, path: FilePath) -> "FileContent":
        """The content of a file; what is content already stays as it is."""
        return path if isinstance(path, FileContent) else cls(path)

    def named(self, path: FilePath) -> "FileContent":
        """The same bytes under another name, which messages then have."""
        return FileContent(path, self.content)

    def sha256(self) -> str:
        """The digest of the bytes."""
        return hashlib.sha256(self.content()).hexdigest()

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__
