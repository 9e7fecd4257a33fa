"""Typed errors: each says what was expected, what was found and what to do next."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = [
    "DISTRIBUTIONS",
    "BundleError",
    "ConfigError",
    "DataError",
    "DeviceError",
    "ExportError",
    "InputError",
    "MissingExtraError",
    "NoSentencesWarning",
    "PluginError",
    "StoppedError",
    "ThinstackError",
    "TreeError",
    "UnknownNameError",
    "needs_extra",
]


class ThinstackError(Exception):
    """Base of every error that thinstack raises on purpose."""


class TreeError(ThinstackError, ValueError):
    """A tree, or a text that should hold one, is malformed.

    `source`, `line` and `column` (both 1-based) say where, when that is known; they lead the
    message as `source:line:column`.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ):
        place = ":".join(str(part) for part in (source, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.source, self.line, self.column = message, source, line, column

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_tree_error, (self.message, self.source, self.line, self.column)


def _rebuild_tree_error(
    message: str, source: str | None, line: int | None, column: int | None
) -> TreeError:
    return TreeError(message, source=source, line=line, column=column)


class DataError(ThinstackError, ValueError):
    """A data file (word vectors, vocabulary, label) does not hold what it should."""


class ConfigError(ThinstackError, ValueError):
    """A configuration or recipe does not validate."""


class InputError(ThinstackError, ValueError):
    """What was handed to a model cannot be its input (ids out of range, transitions that are no
    tree)."""


class UnknownNameError(ThinstackError, LookupError):
    """A cell, task head or model of this name is not known; the known ones are listed, and what
    else there is to say, `more`."""

    def __init__(self, kind: str, name: str, known: Iterable[str], more: Iterable[str] = ()):
        self.kind, self.name, self.known, self.more = kind, name, sorted(known), list(more)
        listed = f"known: {', '.join(self.known) or 'none'}"
        super().__init__("; ".join([f"unknown {kind} {name!r}", listed, *self.more]))

    def __reduce__(self) -> tuple[object, ...]:
        return UnknownNameError, (self.kind, self.name, self.known, self.more)


class PluginError(ThinstackError):
    """A plugin broke its contract."""


class BundleError(ThinstackError):
    """A bundle is damaged, incomplete, or of a newer schema than this version reads."""


class ExportError(ThinstackError):
    """A model could not be exported, or its export did not answer as the model does."""


class StoppedError(ThinstackError):
    """A run ended before its time, over a corpus or in training; the message says how to go on."""


class NoSentencesWarning(UserWarning):
    """Docs of spaCy reached a component that reads sentences, and nothing has set these."""


class DeviceError(ThinstackError, RuntimeError):
    """The requested device is not what the runtime really runs on."""


DISTRIBUTIONS = {"sklearn": "scikit-learn", "tomli_w": "tomli-w"}
"""What pip calls packages that are imported by another name."""


class MissingExtraError(ThinstackError, ImportError):
    """A package of one of thinstack's extras is not installed; the message holds the pip command
    that mends it.

    `package` is the name that is imported. The command names the package itself, for pip may not
    find thinstack on an index.
    """

    def __init__(self, package: str, extra: str):
        self.package, self.extra = package, extra
        super().__init__(
            f"this needs the package {package!r}, which is not installed: pip install "
            f"{DISTRIBUTIONS.get(package, package)}, or install thinstack with its extra {extra!r}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return MissingExtraError, (self.package, self.extra)


@contextmanager
def needs_extra(extra: str, package: str = "") -> Iterator[None]:
    """Raise MissingExtraError if a package that the block imports is not installed.

    `package`: the only one that belongs to the extra; any other that is missing is an error of that
    package's installation, and raised as it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "thinstack") or (package and missing != package):
            raise
        raise MissingExtraError(missing, extra) from None
