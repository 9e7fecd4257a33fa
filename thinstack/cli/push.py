"""`thinstack push`: uploads a bundle to the Hugging Face hub."""

from typing import Annotated

import typer
from rich.console import Console

from thinstack.cli.options import IsolatedOption


def push(
    model: Annotated[str, typer.Argument(help="The model: a bundle's folder or name.")],
    repository: Annotated[str, typer.Argument(help="The repository on the hub: user/name.")],
    private: Annotated[
        bool,
        typer.Option("--private", help="If the repository is new, make it visible only to you."),
    ] = False,
    revision: Annotated[
        str | None, typer.Option(help="The branch to upload to. It is made if it does not exist.")
    ] = None,
    isolated: IsolatedOption = None,
) -> None:
    """Upload a bundle to the Hugging Face hub.

    Afterwards hf://user/name loads it. First the bundle is checked against its manifest and its
    reference cases. If an older bundle lacks something that the hub expects, the upload adds it,
    and the bundle on disk stays as it is.
    Log in with `hf auth login`, or set HF_TOKEN.
    """
    from thinstack.integrations.push import push as push_bundle
    from thinstack.integrations.show.outline import as_text

    address, url, changed = push_bundle(
        model, repository, private=private, revision=revision, isolated=isolated
    )
    console = Console(soft_wrap=True, highlight=False)
    if changed:
        console.print(f"added or changed for the hub: {as_text(', '.join(changed))}")
    console.print(f"{as_text(url)}\nload it: thinstack.load({address!r})")
