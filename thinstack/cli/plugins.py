"""`thinstack plugins`: lists the plugins, and what is wrong with those that failed."""

from rich.console import Console
from rich.text import Text

from thinstack.cli.options import JsonOption, print_json
from thinstack.errors import escaped


def plugins(as_json: JsonOption = False) -> None:
    """List the plugins: cells, task heads, readers, named models.

    A plugin that failed to load is listed with its error.
    """
    from dataclasses import asdict

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
