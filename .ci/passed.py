"""When each job last passed: `.ci/passed.tsv`, which the jobs write and `.ci/quick` reads.

python .ci/passed.py record JOB COMMIT SECONDS PASSED SKIPPED
python .ci/passed.py late
"""

import csv
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(".ci", "passed.tsv")
COLUMNS = ("job", "commit", "date", "seconds", "passed", "skipped")
MOST = 30
"""Commits of what a job covers after which it is to run again."""


def main(action: str, *values: str) -> None:
    lines = [record(*values)] if action == "record" else late()
    print("\n".join(lines))


def record(job: str, commit: str, seconds: str, passed: str, skipped: str) -> str:
    """Write the row of a job that passed; returns what to say of it. A job in which no test ran, or
    whose files are not those of the commit, has none."""
    if int(passed) == 0:
        return f"not recorded in {FILE}: every test was skipped"
    if git("diff", "--quiet", commit, "--", ".", f":!{FILE}") is None:
        return f"not recorded in {FILE}: files differ from the commit at which {job} started"
    date = datetime.now(UTC).date().isoformat()
    row = dict(zip(COLUMNS, (job, commit, date, seconds, passed, skipped), strict=True))
    rows = sorted({**passes(), job: row}.items())
    with FILE.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        table.writeheader()
        table.writerows(row for _, row in rows)
    return f"recorded in {FILE}: {job} passed at {commit[:8]}"


def late() -> Iterator[str]:
    """A line for each job that never passed, or not within `MOST` commits of what it covers."""
    rows = passes()
    for path in sorted(Path(".ci", "jobs").iterdir()):
        if (row := rows.get(path.name)) is None:
            yield f"{path} is not in {FILE}: it has not passed since that is kept"
            continue
        since = f"{row['commit']}..HEAD"
        count = git("rev-list", "--count", since, "--", *covered(path))
        if count is None:
            yield f"{path} passed at {row['commit'][:8]}, which this clone does not have"
        elif int(count) > MOST:
            yield f"{path} last passed on {row['date']}, {count} commits of what it covers ago"


def covered(path: Path) -> list[str]:
    """The paths that a job says that it covers."""
    lines = path.read_text(encoding="utf-8").splitlines()
    (paths,) = (line.removeprefix("# covers: ") for line in lines if line.startswith("# covers: "))
    return paths.split()


def passes() -> dict[str, dict[str, str]]:
    """The rows of the file, by job."""
    if not FILE.exists():
        return {}
    with FILE.open(encoding="utf-8", newline="") as file:
        return {row["job"]: row for row in csv.DictReader(file, delimiter="\t")}


def git(*arguments: str) -> str | None:
    """What git prints, or None if it fails."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


if __name__ == "__main__":
    main(*sys.argv[1:])
