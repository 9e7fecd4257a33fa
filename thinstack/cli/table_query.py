"""The table of texts for `thinstack report`, `themes` and `search`, and their progress bar."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from rich.console import Console

from thinstack.cli.options import HeaderOption, SeparatorOption, argument, option
from thinstack.data.files.outputs import Output, check_output
from thinstack.data.files.signals import stoppable
from thinstack.errors import InputError, escaped

if TYPE_CHECKING:
    from thinstack.integrations.corpora.run_manifest import Progress, Tell
    from thinstack.integrations.report.report import Report
    from thinstack.integrations.report.rows import ReportOptions, Source
    from thinstack.integrations.themes.themes import Themes


@contextmanager
def watched(
    stopped: str, console: Console | None = None, clock: Callable[[], float] = time.monotonic
) -> "Iterator[Tell]":
    """Show the progress, the rows per second and the time left in a terminal: first the rows
    counted, then the rows done. A signal that interrupts the block raises StoppedError with the
    message `stopped`. `clock`: returns the time in seconds from any origin."""
    from rich import progress

    console = console or Console(stderr=True)
    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[speed]}"),
        progress.TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
        speed_estimate_period=3600.0,  # seconds over which the speed is measured
        get_time=clock,
    )
    number = bar.add_task("", total=None, speed="")

    def tell(now: "Progress") -> None:
        (task,) = bar.tasks
        name = "counting rows" if now.rows is None else "rows"
        if task.description != name:
            bar.reset(number, description=name, total=now.rows, completed=now.done)
        speed = f"{task.speed:,.0f} rows/s" if task.speed else ""
        bar.update(number, completed=now.done, speed=speed)

    with stoppable(stopped), bar:
        yield tell


def standard_input(input: Path) -> BinaryIO | None:
    """Return standard input if `input` is "-", otherwise None. Raises InputError if it is a
    terminal."""
    if str(input) != "-":
        return None
    if sys.stdin.isatty():
        raise InputError(
            "- reads standard input, but that is a terminal: pipe texts into it, or pass a file"
        )
    return sys.stdin.buffer


@dataclass(frozen=True)
class TableQuery:
    """The texts of a table, its format, and the column of groups."""

    table: Path = argument(
        "The texts: a table (.csv, .tsv, .json, .jsonl, .parquet; also .gz), a .txt file with "
        "one text per line, a folder of such files, or - for standard input."
    )
    text: str | None = option("Text column.  [default: text]", "--text")
    separator: SeparatorOption = None
    header: HeaderOption = None
    encoding: str = option("Encoding of the table.", default="utf-8")
    by: str | None = option("Group column, such as store. Compares its values.")

    def output(self, path: Path | None, option: str, *others: Path | None) -> Output | None:
        """Return the checked file of `option`, which may not replace the table or `others`."""
        read = 0 if str(self.table) == "-" else self.table
        return None if path is None else check_output(path, option, [read, *others])

    @contextmanager
    def opened(self, **settings: Any) -> "Iterator[tuple[Source, ReportOptions, Tell]]":
        """Yield the source of the rows, the options for reading them (the columns and these
        `settings` of `ReportOptions`), and the progress bar. Standard input is stored in a file
        during the block."""
        from thinstack.integrations.corpora.inputs import Columns, open_corpus, spooled_corpus
        from thinstack.integrations.report.plan import corpus_rows
        from thinstack.integrations.report.rows import ReportOptions

        text = "text" if self.text is None else self.text
        stopped = "stopped before anything was written: run the same command again"
        with watched(stopped) as tell, ExitStack() as stack:
            options = ReportOptions(source=self.table.name, text=text, by=self.by, **settings)
            reading = {name: getattr(self, name) for name in ("encoding", "separator", "header")}
            if stream := standard_input(self.table):
                columns = (self.text, self.by, options.over, options.stars)
                named = any(name is not None for name in columns)
                folder = stack.enter_context(TemporaryDirectory(prefix="thinstack-"))
                spool = Path(folder) / "standard input"
                corpus = spooled_corpus(stream, spool, Columns(), named=named, **reading)
                options = options._replace(source=spool.name)
            else:
                corpus = open_corpus(self.table, **reading)
            yield partial(corpus_rows, corpus, options), options, tell


def print_note(*lines: str) -> None:
    """Print lines to standard error."""
    console = Console(stderr=True)
    for line in lines:
        console.print(escaped(line), soft_wrap=True, highlight=False, markup=False)


def print_unread(result: "Report | Themes") -> None:
    """Print the number of rows that could not be read, by reason, and the first of each."""
    from thinstack.integrations.report.rows import REASONS

    for kind, rows, (example, *_) in result.unread:
        first = ": ".join(filter(None, example))
        print_note(f"of {result.rows:,} rows, {rows:,} {REASONS[kind]}; the first is {first}")
