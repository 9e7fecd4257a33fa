"""What is done of a table: its runs, their jobs, and what became of them."""

from dataclasses import dataclass, field

from reproduce.cases import Cases
from reproduce.curves import Trace
from reproduce.run import Job, Outcome, cases_of
from reproduce.table import Row, Run


@dataclass(frozen=True, slots=True)
class State:
    """The runs of a table, their jobs, and what became of them, by their paths; the `commit` that
    is noted with them."""

    runs: dict[str, Run]
    commit: str | None = None
    jobs: dict[str, Job] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def missing(self) -> dict[str, str]:
        """Why rows are not complete, by name: what the first of their runs that failed says."""
        found: dict[str, str] = {}
        for path in self.failed():
            found.setdefault(self.runs[path].row.name, f"{path}: {self.failures[path]}")
        return found

    def failed(self) -> list[str]:
        """The paths of the runs that failed, in the table's order."""
        return [path for path in self.runs if path in self.failures]

    def cases(self, row: Row, variant: str, source: str) -> list[Cases]:
        """The cases of each seed of a row in a variant, over the trees of a source."""
        return [cases_of(self.jobs[path], source) for path in self._paths(row, variant)]

    def traces(self, row: Row) -> list[Trace]:
        """What was measured after each epoch, of each seed of a row."""
        return [self.outcomes[path].trace for path in self._paths(row, "")]

    def _paths(self, row: Row, variant: str) -> list[str]:
        place = row.name, variant
        return [path for path, run in self.runs.items() if (run.row.name, run.variant) == place]
