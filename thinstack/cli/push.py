"""`thinstack push`: a bundle to the Hugging Face hub."""

from typing import Annotated

import typer
from rich.console import Console

__all__ = ["push"]


def push(
    model: Annotated[str, typer.Argument(help="Folder or name of a bundle.")],
    repository: Annotated[str, typer.Argument(help="Where it goes: user/name.")],
    private: Annotated[
        bool, typer.Option("--private", help="If the repository is made: for you alone.")
    ] = False,
    revision: Annotated[
        str | None, typer.Option(help="A branch, which is made if it is not there.")
    ] = None,
) -> None:
    """Upload a bundle to the Hugging Face hub, from where hf://user/name loads it.

    It is checked first, against its manifest and its reference cases. What the hub expects and an
    older bundle lacks goes up with it; the bundle on the disk stays as it is. The token is the one
    of `hf auth login`, or HF_TOKEN.
    """
    from thinstack.hub.push import push as push_bundle

    pushed = push_bundle(model, repository, private=private, revision=revision)
    console = Console(soft_wrap=True, highlight=False)
    if pushed.changed:
        console.print(f"added or changed for the hub: {', '.join(pushed.changed)}")
    console.print(f"{pushed.url}\nload it: thinstack.load({str(pushed.address)!r})")
