"""`thinstack serve`: a local page for a model."""

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from thinstack.cli import options
from thinstack.cli.options import argument, option
from thinstack.data.files.outputs import check_output
from thinstack.errors import DataError, InputError, escaped

if TYPE_CHECKING:
    from thinstack.integrations.serving.labelling import Labelling
    from thinstack.runtime.predictor import Predictor


@options.grouped
def serve(
    *,
    model: str = argument("The model: a bundle's name or folder.", default="sentiment"),
    port: int = option(
        "Port on 127.0.0.1. Use 0 to pick a free port.", default=8000, min=0, max=65535
    ),
    open_page: bool = option("Open the page in your browser.", "--open/--no-open", default=True),
    table: Path | None = option(
        "Label this table's texts in the browser, starting with the least certain. Press one key "
        "per text."
    ),
    out: Path | None = option(
        "With --table: file for the labels, to use with thinstack train --add. Texts that are "
        "already in the file are skipped.  [default: corrections.csv]"
    ),
    columns: options.ColumnSettings,
    view: options.ViewSettings,
    running: options.Running,
) -> None:
    """Open a page on this machine that scores texts as you type them.

    With --table, you can also label the texts of a table on the page.
    """
    import webbrowser

    from thinstack.integrations.serving.server import PageServer

    named = options.chosen(columns) + ["out"] * (out is not None)
    if table is None and named:
        raise InputError(f"{options.listed(named)}: works only with --table: add a table")
    with PageServer(port) as server:
        server.predictor = running.load(model, **vars(view))
        server.predictor.view.need_labels("serve")
        server.name = Path(model).name or model
        if table is not None:
            out = out or Path("corrections.csv")
            server.labelling = _labelling(server.predictor, table, out, columns)
        try:
            print(f"{escaped(server.name)} at {server.url} (press Ctrl-C to stop)", flush=True)
            if open_page:
                # Some browsers block until they are closed.
                threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
            server.serve_forever()
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is still scoring is being stopped
            print()


def _labelling(
    predictor: "Predictor", path: Path, out: Path, columns: options.ColumnSettings
) -> "Labelling":
    """Return the texts of a table to label, after printing their number."""
    from thinstack.integrations.serving.labelling import MOST_TEXTS, Labelling

    check_output(out, "--out", [path, predictor.bundle.path])
    skipped: list[DataError] | None = [] if columns.skip_bad else None
    names = {"text": columns.text_column, "label": columns.label_column}
    labelling = Labelling(columns.table(path), predictor, out, skipped=skipped, **names)
    texts = len(labelling.texts)
    most = ", the first of the table" if texts == MOST_TEXTS else ""
    bad = f"; {len(skipped):,} rows were skipped" if skipped else ""
    print(f"{texts:,} texts to label{most}{bad}; labels go to {escaped(str(out))}", flush=True)
    return labelling
