"""`thinstack doctor` and `thinstack plugins`: the state of the installation, missing parts, and the
commands that fix it."""

import platform
import sys
from dataclasses import asdict

import typer
from rich.console import Console
from rich.text import Text

from thinstack.cli.options import IsolatedOption, JsonOption, ModelOption, print_json
from thinstack.errors import escaped

STYLES = {"ok": "green", "missing": "yellow", "wrong": "red"}
NAME = 14  # columns


def doctor(
    model: ModelOption = "sentiment", as_json: JsonOption = False, isolated: IsolatedOption = None
) -> None:
    """Check the installation, and suggest fixes.

    Checks package versions, plugins, runtimes, and a model on its reference cases. The exit code is
    0 if everything required works, 1 if not, and 2 for invalid options.
    """
    from thinstack._version import __version__
    from thinstack.cli.checks import examine, exit_code

    machine = f"{platform.system()} {platform.machine()}"
    python = platform.python_version()
    console = Console(soft_wrap=True, highlight=False, quiet=as_json)
    console.print(f"thinstack {__version__}, Python {python}, {machine}\n")
    results = []
    for one in examine(model, isolated=isolated):
        style = STYLES[one.status if not exit_code([one]) else "wrong"]
        line = Text.assemble((f"{one.status:9}", style), (f"{one.name:{NAME}}", "bold"))
        console.print(line.append(escaped(" ".join(one.found.split()))))
        results.append(one)
    if mends := [one for one in results if one.mend]:
        console.print("\nTo fix it:")
        for one in mends:
            console.print(Text(escaped(f"  {one.name:{NAME}}{one.mend}")))
    optional = "Everything required works. The missing packages are optional."
    fine = optional if mends else "All checks passed."
    wrong = "Some checks failed. See the list above."
    code = exit_code(results)
    console.print(f"\n{wrong if code else fine}")
    if as_json:
        where = {"python": python, "executable": sys.executable, "machine": machine}
        listed = {"checks": [asdict(one) for one in results], "exit_code": code}
        print_json({"thinstack": __version__, **where, **listed})
    raise typer.Exit(code)


def plugins(as_json: JsonOption = False) -> None:
    """List the installed plugins: cells, task heads, readers, models.

    Also lists plugins that failed to load, with their errors.
    """
    from rich.table import Column, Table

    from thinstack.plugins.manager import manager

    records = manager().records()
    if as_json:
        print_json([asdict(record) for record in records])
        return
    columns = ("name", "kind", "distribution", "version", "status")
    table = Table(*(Column(name, overflow="fold") for name in (*columns, "about")))
    for record in records:
        about = record.error or "; ".join(filter(None, (record.licence, record.summary)))
        cells = (*(getattr(record, column) for column in columns), about)
        table.add_row(*(Text(escaped(cell)) for cell in cells))
    Console().print(table)
