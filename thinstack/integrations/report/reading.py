"""Reads the texts of a table by a model, each with the reason for which it does not count."""

from collections import deque
from collections.abc import Iterator, Sequence

from thinstack.bundle.opening import installed_name
from thinstack.errors import ThinstackError, shown
from thinstack.integrations.report.figures import Unread
from thinstack.integrations.report.rows import REASONS, Fault, TextRow
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.runtime.views import View
from thinstack.text.language import is_word


def scored_rows(
    model: Predictor, rows: Iterator[TextRow], *, whole: bool = True
) -> Iterator[tuple[TextRow, Result]]:
    """Each row with the side and polarity of its text, and what the model says of it, in order. A
    row whose text does not count has the fault for which it does not. Memory stays bounded.
    `whole`: False leaves rows as they are."""
    waiting, failed = deque[TextRow](), dict[int, ThinstackError]()
    sides = sides_of(model.view)

    def texts() -> Iterator[str]:
        for row in rows:
            waiting.append(row)
            yield "" if row.unreadable else row.text

    results = model.stream(texts(), on_error=failed.__setitem__)
    for number, result in enumerate(results):
        row, error = waiting.popleft(), failed.pop(number, None)
        if not whole:
            yield row, result
            continue
        if fault := _fault(model, row, result, error):
            yield row._replace(faults=(fault,)), result
            continue
        side, polarity = sides.get(result.label, 0), result.polarity or 0.0
        yield row._replace(side=side, polarity=polarity), result


def model_name(model: Predictor) -> str:
    """The name of an installed model, or else that of its recipe, or else that of its folder."""
    path, recipe = model.bundle.path, model.bundle.manifest.metrics.get("recipe")
    return str(installed_name(path) or recipe or path.name)


def sides_of(view: View) -> dict[str | None, int]:
    """-1, 0 or 1 by label; empty where the classes are no scale of sentiment."""
    places = zip(view.labels, view.polarity or (), strict=False)
    return {label: (place > 0) - (place < 0) for label, place in places}


def _fault(
    model: Predictor, row: TextRow, result: Result, error: ThinstackError | None
) -> Fault | None:
    """Why a text is not counted, or None if it is."""
    if unreadable := row.unreadable:
        return unreadable
    if error is not None:
        return Fault("failed", str(error).partition(": ")[2] or str(error))
    words = [word for sentence in result.sentences for word in sentence.words]
    if not any(map(is_word, words)):
        return Fault("empty", f"no words: {shown(row.text, 40)}" if row.text.strip() else "")
    doubt = model.language.doubt(words)
    return Fault("language", f"{doubt}: {shown(row.text, 60)}") if doubt else None


def nothing_read(unread: Sequence[Unread], rows: int) -> str:
    """What is said of a table in which no text counts."""
    kinds = ", ".join(f"{part.rows:,} {REASONS[part.kind]}" for part in unread)
    first = next((reason for part in unread for _, reason in part.examples), "")
    first = f"; the first: {first}" if first else ""
    return (
        f"expected texts in English, found none in {rows:,} rows ({kinds}){first}. Name the column "
        "of the texts with --text (in Python text=)"
    )
