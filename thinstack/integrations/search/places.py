"""Which places of phrases are shown as hits."""

from collections import defaultdict

from thinstack.integrations.report.terms import said_phrase
from thinstack.integrations.search.phrase_table import Mentions, PhraseTable


class Places:
    """The places of hits. None overlaps another, and no two hits say the same."""

    def __init__(self, mentions: Mentions, table: PhraseTable):
        self._mentions, self._table = mentions, table
        self._taken = defaultdict[int, list[tuple[int, int]]](list)
        self._said = set[str]()

    def take(self, number: int) -> tuple[int, int, int] | None:
        """The sentence of the first free mention of a phrase, and its characters in the text. None
        if there is none, or another hit says the same."""
        said = said_phrase(self._table.phrase(number))
        if said in self._said:
            return None
        first, last = self._mentions.starts[number : number + 2].tolist()
        for place in range(first, last):
            sentence, start, end = self._mentions.places[place].tolist()
            if all(end <= begun or ended <= start for begun, ended in self._taken[sentence]):
                self._taken[sentence].append((start, end))
                self._said.update([said] if said else ())
                return sentence, start, end
        return None
