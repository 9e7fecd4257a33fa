"""Reads texts and labels from spaCy's DocBin files (`.spacy`)."""

from collections.abc import Iterator, Sequence
from typing import Unpack

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from thinstack.data.files.paths import FileContent, FilePath, why_unreadable
from thinstack.data.tables.table_rows import Found, Record, RowChecks, TableRow, checked_rows
from thinstack.errors import DataError, InputError, raised_by_signal_handler, shown

_CHOSEN = 0.5


def read_doc_bin(
    path: FilePath,
    columns: Sequence[str],
    *,
    span_group: str | None = None,
    **checks: Unpack[RowChecks],
) -> Iterator[TableRow]:
    """Yield the Docs of a DocBin as rows. The `line` of a row is the number of its Doc, from 1.

    The columns are `text` and `label`, the only category of `doc.cats` above 0.5. With
    `span_group`, yields one row for each span of that group, with the columns `text` (of the Doc),
    `start` and `end` (characters in it) and `label`, and none for a Doc without the group.

    A Doc without a category, with several, or without text or label is a bad row. Raises DataError
    for a file that is missing, is not a DocBin or has no Docs, for other `columns`, and if no Doc
    has the group.
    """
    advice = "a file of Docs has no columns: remove --text, --label (text=, label=)"
    checks["advice"] = advice
    texts = _spans(path, span_group) if span_group else _docs(path)
    return checked_rows(str(path), texts, columns, **checks)


def doc_texts(path: FilePath) -> Iterator[Found]:
    """Yield the texts of the Docs of a DocBin as records of a table with the column `text`."""
    yield ["text"]
    for number, doc in enumerate(_read(path), start=1):
        yield Record(number, {"text": doc.text})


def chosen_categories(doc: Doc) -> list[str]:
    """Return the categories of `doc.cats` above 0.5: at most one, if they are exclusive. Raises
    InputError for keys that are not strings and for scores that are not numbers."""
    chosen = []
    for label, score in doc.cats.items():
        check_label(label)
        try:
            if score > _CHOSEN:
                chosen.append(label)
        except TypeError:
            problem = f"expected numbers in doc.cats, found {shown(score)}"
            raise InputError(
                f"{problem} for {label!r:.80}: set 1.0 for the class, else 0.0"
            ) from None
    return chosen


def check_label(label: object) -> None:
    """Raise InputError for a key of `doc.cats` that is not a string."""
    if not isinstance(label, str):
        problem = f"expected strings as keys of doc.cats, found {shown(label)}"
        raise InputError(f"{problem}: use its name, such as {str(label)!r:.80}")


def _docs(path: FilePath) -> Iterator[Found]:
    yield ["text", "label"]
    for number, doc in enumerate(_read(path), start=1):
        try:
            chosen = chosen_categories(doc)
            if len(chosen) != 1:
                cats = ", ".join(f"{label!r}: {score:g}" for label, score in doc.cats.items())
                shown_cats = f"{{{cats:.200}}}" if cats else "no categories"
                expected = f"expected one category of doc.cats above {_CHOSEN}"
                raise InputError(f"{expected}, found {shown_cats}")
            yield Record(number, {"text": doc.text, "label": chosen[0]})
        except InputError as error:
            yield Record(number, {"text": doc.text}, DataError(f"{path}:{number}: {error}"))


def _spans(path: FilePath, group: str) -> Iterator[Found]:
    yield ["text", "start", "end", "label"]
    groups: set[str] = set()
    for number, doc in enumerate(_read(path), start=1):
        groups.update(doc.spans)
        for span in list(doc.spans[group]) if group in doc.spans else []:
            place = {"start": span.start_char, "end": span.end_char}
            yield Record(number, {"text": doc.text, **place, "label": span.label_})
    if group not in groups:
        names = ", ".join(map(repr, sorted(groups))) or "no groups"
        raise DataError(f"{path}: expected the span group {group!r} in doc.spans, found {names}")


def _read(path: FilePath) -> Iterator[Doc]:
    try:
        yield from DocBin().from_bytes(FileContent.of(path).content()).get_docs(Vocab())
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {why_unreadable(path, error)}") from None
    except Exception as error:  # zlib, msgpack and spaCy raise many types of errors
        if raised_by_signal_handler(error):
            raise
        problem = f"expected spaCy's DocBin, found another format: {error!s:.200}"
        raise DataError(f"{path}: {problem}") from None
