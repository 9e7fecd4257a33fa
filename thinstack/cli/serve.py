"""`thinstack serve`: the page for a model of one's own, on this machine."""

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from thinstack.cli.options import IsolatedOption, ThreadsOption, ViewSettings, grouped
from thinstack.errors import escaped


@grouped
def serve(
    *,
    model: Annotated[str, typer.Argument(help="Name or folder of a bundle.")] = "sentiment",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of 127.0.0.1; 0 takes any that is free.")
    ] = 8000,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
    view: ViewSettings,
    isolated: IsolatedOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Open a page on this machine that scores texts as you type them."""
    import webbrowser

    from thinstack import load
    from thinstack.integrations.serving.server import PageServer

    with PageServer(port) as server:
        server.predictor = load(model, threads=threads, isolated=isolated, **vars(view))
        server.predictor.view.need_labels("serve")
        server.name = Path(model).name or model
        try:
            print(f"{escaped(server.name)} at {server.url} (Ctrl-C ends it)", flush=True)
            if open_page:
                # Some browsers do not return before they are closed.
                threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
            server.serve_forever()
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # what still scores is being stopped
            print()
