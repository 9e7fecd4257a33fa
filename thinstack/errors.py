"""The errors of thinstack. Each message states what is wrong, then what to do."""

import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from opcode import opmap
from types import CodeType, TracebackType
from typing import Any

__all__ = [
    "DISTRIBUTIONS",
    "BundleError",
    "ConfigError",
    "DataError",
    "DeviceError",
    "ExportError",
    "InputError",
    "LanguageWarning",
    "MissingExtraError",
    "NoMentionWarning",
    "NoSentencesWarning",
    "PluginError",
    "StoppedError",
    "ThinstackError",
    "TreeError",
    "UnknownNameError",
    "described",
    "escaped",
    "needs_extra",
    "outside",
    "raised_by_signal_handler",
    "raised_in",
    "shown",
]

_ASCII = r"\x00-\x7f"
# What can act on a terminal or a page, or cannot be seen: C0, C1, line separators, marks of
# direction, characters without width, halves of surrogates, tags, and what XML cannot hold. The
# joiners of emoji and of Persian stay between two characters beyond ASCII.
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
    rf"|(?<![^{_ASCII}])[\u200c\u200d]|[\u200c\u200d](?![^{_ASCII}])"
)


_LONGEST, _END = 3000, 500  # characters of a message, and of its end where it is longer


def escaped(text: str) -> str:
    """`text` with escapes in place of all that could act on a terminal or a page, or hide there:
    control characters, line ends, marks of direction, characters without width."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def shown(value: object, most: int = 80) -> str:
    """The `repr` of what was found, cut after `most` characters; its type where it has no `repr`,
    because it is nested too deep or has too many digits."""
    try:
        return f"{value!r:.{most}}"
    except (ValueError, RecursionError):
        return f"{type(value).__name__} (cannot be printed)"


def described(error: BaseException, most: int = 1000) -> str:
    """The type and the message of an error of other code, of one of ours the message alone. Such a
    message may be long, or raise an error of its own."""
    try:
        kind = "" if isinstance(error, ThinstackError) else f"{type(error).__name__}: "
        return f"{kind}{str.__str__(str(error)):.{most}}"
    except BaseException as broken:
        if raised_by_signal_handler(broken):
            raise
        return "an error whose message cannot be printed"


def raised_in(error: BaseException, *packages: str) -> bool:
    """Whether the code of one of these packages raised an error, and nothing that it called."""
    traces = _traces(error)
    module = traces[-1].tb_frame.f_globals.get("__name__") if traces else None
    return isinstance(module, str) and module.partition(".")[0] in packages


def raised_by_signal_handler(error: BaseException) -> bool:
    """Whether a signal handler of the program raised an error, such as a limit of time, or Ctrl-C
    did. What runs when the signal comes has not failed then, and must let the error pass."""
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    traces = _traces(error)
    if isinstance(error, KeyboardInterrupt) and traces:
        # Python's own handler of Ctrl-C has no frame, but no statement `raise` has run either.
        frame, place = traces[-1].tb_frame, traces[-1].tb_lasti
        return frame.f_code.co_code[place] != opmap["RAISE_VARARGS"] or frame.f_code in handlers
    return any(trace.tb_frame.f_code in handlers for trace in traces)


def _traces(error: BaseException) -> list[TracebackType]:
    traces, trace = [], error.__traceback__
    while trace is not None:
        traces.append(trace)
        trace = trace.tb_next
    return traces


def _code(handler: Any) -> CodeType | None:
    """The code of a function, a method, a partial one, or an object that can be called."""
    while isinstance(handler, partial):
        handler = handler.func
    if not callable(handler):  # the system's own
        return None
    handler = getattr(handler, "__func__", handler)
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None


def outside() -> int:
    """How many frames lie between what calls this and the code that uses the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("thinstack."):
        frame, level = frame.f_back, level + 1
    return level


class ThinstackError(Exception):
    """Base class of all errors of thinstack.

    `str` returns the message with unsafe characters escaped, because messages quote files, and
    shortens it in the middle if it has more than 3,000 characters.
    """

    def __str__(self) -> str:
        said = super().__str__()
        if len(said) > _LONGEST:
            said = f"{said[: _LONGEST - _END]} ... {said[-_END:]}"
        return escaped(said)


class TreeError(ThinstackError, ValueError):
    """Malformed tree.

    `source`, `line` and `column`, counted from 1, are the place, if known. The message starts with
    them, as `source:line:column`.
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
    """Invalid data file, such as word vectors, a vocabulary or a table."""


class ConfigError(ThinstackError, ValueError):
    """Invalid configuration or recipe."""


class InputError(ThinstackError, ValueError):
    """Input that a model or command cannot use, such as ids out of range or transitions that do
    not form a tree."""


class LanguageWarning(InputError, UserWarning):  # noqa: N818  # an error only if asked for
    """A text whose words are mostly unknown or do not look English. Each call and each stream
    warns about the first one only. `warnings.simplefilter("error", LanguageWarning)` turns every
    one into an error."""


class UnknownNameError(ThinstackError, LookupError):
    """Unknown name of a cell, task head or model.

    The message lists the known names, then `more`.
    """

    def __init__(self, kind: str, name: str, names: Iterable[str], more: Iterable[str] = ()):
        self.kind, self.name, self.known, self.more = kind, name, sorted(names), list(more)
        listed = f"known: {', '.join(self.known) or 'none'}"
        super().__init__("; ".join([f"unknown {kind} {shown(name)}", listed, *self.more]))

    def __reduce__(self) -> tuple[object, ...]:
        return UnknownNameError, (self.kind, self.name, self.known, self.more)


class PluginError(ThinstackError):
    """A plugin that fails, or breaks the rules of its kind."""


class BundleError(ThinstackError):
    """A bundle that is damaged, incomplete, or of a newer schema than this version reads."""


class ExportError(ThinstackError):
    """A model that cannot be exported, or an exported file whose scores differ from the model's."""


class StoppedError(ThinstackError):
    """A run over a corpus or a training run that stopped early. The message says how to resume it.

    `code` is the exit code of the command.
    """

    def __init__(self, message: str, *, code: int = 2):
        super().__init__(message)
        self.code = code


class NoSentencesWarning(UserWarning):
    """A spaCy Doc without sentence boundaries, in a component that needs them."""


class NoMentionWarning(UserWarning):
    """A requested term that no text mentions."""


class DeviceError(ThinstackError, RuntimeError):
    """A device on which the model does not run, or a separate process that cannot be started."""


DISTRIBUTIONS = {"sklearn": "scikit-learn", "tomli_w": "tomli-w"}
"""The names that pip uses for packages that are imported by another name."""

_EXTRA = re.compile(r"""([\w.-]+).*;.*\bextra == ['"](.+?)['"]""")


class MissingExtraError(ThinstackError, ImportError):
    """Missing package of one of thinstack's extras. The message contains the pip command that
    installs all missing packages of the extra.

    `package` is the name that is imported. The command installs packages, not the extra, because
    pip may not find thinstack on an index.
    """

    def __init__(self, package: str, extra: str):
        self.package, self.extra = package, extra
        super().__init__(
            f"the package {package!r} is not installed: pip install "
            f"{' '.join(_lacking(package, extra))}, or install thinstack with the extra "
            f"{extra!r}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return MissingExtraError, (self.package, self.extra)


def _lacking(package: str, extra: str) -> list[str]:
    """The distributions of an extra that are not installed: first that of `package`, which is
    imported, and the others as the metadata of thinstack names them."""
    from importlib import metadata

    first = DISTRIBUTIONS.get(package, package)
    names = [first]
    with suppress(metadata.PackageNotFoundError):
        for line in metadata.requires("thinstack") or ():
            match = _EXTRA.match(line)
            if match and match[2] == extra and match[1] != first.replace("_", "-"):
                try:
                    metadata.version(match[1])
                except metadata.PackageNotFoundError:
                    names.append(match[1])
    return names


@contextmanager
def needs_extra(extra: str, package: str = "") -> Iterator[None]:
    """Raise MissingExtraError if a package that the block imports is not installed.

    `package`: the only package of the extra. If another one is missing, that package is broken, and
    its own error is raised.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "thinstack") or (package and missing != package):
            raise
        raise MissingExtraError(missing, extra) from None
