"""Themes as one HTML page, which needs no other file, no network and no script.

`themes_page.html` is the page, `themes.html` the part of it that a report can have too.
"""

from markupsafe import Markup

from thinstack.integrations.report.page import render
from thinstack.integrations.themes.themes import Themes, one_decimal, rest, title


def page(themes: Themes) -> str:
    """The page of themes."""
    return _rendered("themes_page.html", themes)


def section(themes: Themes) -> Markup:
    """The themes as a part of another page with the style of reports: a heading for each side, and
    a card for each theme."""
    return Markup(_rendered("themes.html", themes))


def _rendered(name: str, themes: Themes) -> str:
    return render(name, themes=themes, one_decimal=one_decimal, rest=rest, title=title)
