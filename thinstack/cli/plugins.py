"""`thinstack plugins`: what is registered, and what failed."""

from rich.console import Console
from rich.text import Text

from thinstack.cli.options import JsonOption, print_json

__all__ = ["plugins"]


def plugins(as_json: JsonOption = False) -> None:
    """List the registered cells, task heads, leaf embeddings, readers and bundles, which are models
    that have names, and the plugins that failed."""
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
        table.add_row(*(Text(getattr(record, column)) for column in columns), Text(about))
    Console().print(table)
