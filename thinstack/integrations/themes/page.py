"""Themes as one HTML page, which needs no other file, no network and no script.

`page.html` is the page, `themes.html` the part of it that a report can have too.
"""

from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, FunctionLoader
from markupsafe import Markup

from thinstack.integrations.report.page import style, templates
from thinstack.integrations.themes.themes import Themes, one_decimal, rest, title


def page(themes: Themes) -> str:
    """The page of themes."""
    template = _templates().get_template("themes_page.html")
    return template.render(themes=themes, style=Markup(style()))


def section(themes: Themes) -> Markup:
    """The themes as a part of another page with the style of reports: a heading for each side, and
    a card for each theme."""
    return Markup(_templates().get_template("themes.html").render(themes=themes))


def _templates() -> Environment:
    environment = templates()
    environment = environment.overlay(
        loader=ChoiceLoader([FunctionLoader(_file), environment.loader])  # type: ignore[list-item]
    )
    functions = {function.__name__: function for function in (one_decimal, rest, title)}
    environment.globals = environment.globals | functions
    return environment


def _file(name: str) -> str | None:
    path = files("thinstack.integrations.themes").joinpath(name)
    return path.read_text(encoding="utf-8") if path.is_file() else None
