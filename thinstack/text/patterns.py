"""Regular expressions that are compiled when a text first needs them."""

import re
from collections.abc import Callable


class Patterns(dict[str, re.Pattern[str]]):
    """Compiled patterns, each by its own text: `patterns[text]` compiles it if nothing has yet.

    `expanded`: makes a regular expression of such a text.
    """

    def __init__(self, expanded: Callable[[str], str]):
        super().__init__()
        self._expanded = expanded

    def __missing__(self, text: str) -> re.Pattern[str]:
        pattern = self[text] = re.compile(self._expanded(text))
        return pattern
