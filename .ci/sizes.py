"""The sizes of the project beside their budgets: the table in CONTRIBUTING.md.

python .ci/sizes.py check    # a budget that is passed is an error
python .ci/sizes.py write    # bring the table up to date

A change that needs more than a budget raises it in the table, and says why in its commit.
"""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path("CONTRIBUTING.md")
ROW = re.compile(
    r"^\| `(?P<path>[\w./]+)`, (?P<unit>lines|files|words) \| (?P<budget>[\d,]+) \| [\d,]+ \|$",
    re.M,
)


def main(action: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = list(ROW.finditer(page))
    if not rows:
        sys.exit(f"{PAGE}: there is no table of sizes; a row is | `PATH`, lines | 100 | 90 |")
    if action not in ("check", "write"):
        sys.exit(f"{action}: expected check or write")
    if action == "write":
        PAGE.write_text(ROW.sub(lambda row: written(row), page), encoding="utf-8")
        return
    over = [
        f"{row['path']}: {size(row):,} {row['unit']}, budget {row['budget']}"
        for row in rows
        if size(row) > int(row["budget"].replace(",", ""))
    ]
    rooms = {
        f"thinstack/{path.split('/')[1]}" for path in files("thinstack") if path.count("/") > 1
    }
    over += [f"{room} has no budget" for room in sorted(rooms - {row["path"] for row in rows})]
    if over:
        sys.exit(
            f"{PAGE}: " + "; ".join(over) + ". Make it smaller, or raise the budget and say why."
        )


def written(row: re.Match[str]) -> str:
    """The row with the size of now."""
    return f"| `{row['path']}`, {row['unit']} | {row['budget']} | {size(row):,} |"


def size(row: re.Match[str]) -> int:
    """Lines or files of Python, or words of Markdown, of all files below a path that git tracks."""
    words = row["unit"] == "words"
    paths = [path for path in files(row["path"]) if path.endswith(".md" if words else ".py")]
    if row["unit"] == "files":
        return len(paths)
    contents = (Path(path).read_text(encoding="utf-8") for path in paths)
    return sum(len(text.split()) if words else text.count("\n") for text in contents)


def files(path: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--deduplicate", path], capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if Path(line).exists()]


if __name__ == "__main__":
    main(*sys.argv[1:])
