"""`PhraseIndex`: search over the phrases of many texts by meaning and side."""

import json
import math
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, repeat, zip_longest
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.bundle.hub import is_address
from thinstack.bundle.opening import installed_name
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.cell_text import is_missing_cell
from thinstack.data.tables.containers import check_container
from thinstack.errors import DataError, InputError, MissingExtraError, outside, shown
from thinstack.integrations.search.index_file import read_index, write_index
from thinstack.integrations.search.phrase_table import (
    EXACT,
    Graph,
    PhraseTable,
    best_first,
    cosines,
    places_of,
    signs,
)
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.stream import OnError
from thinstack.runtime.vectors import need_vectors, row_of
from thinstack.text.language import is_word

Side = Literal["negative", "positive"]

_SIDES: Final = {"negative": -1, "positive": 1}
_DIGITS: Final = 4
_END: Final = object()


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase that matches a query, at one of its places.

    Attributes:
        text: the text that mentions it.
        phrase: the phrase as typed there; `start` and `end` are its characters in the text.
        sentence: the sentence around it.
        similarity: the cosine of its vector and that of the query.
        polarity: from -1 (negative) to 1 (positive); None for a model without sentiment.
        count: number of mentions in all texts, in upper or lower case.
        id: the id that you passed with the text.
    """

    text: str
    phrase: str
    start: int
    end: int
    sentence: str
    similarity: float
    polarity: float | None
    count: int
    id: Any = None


class PhraseIndex:
    """The phrases of texts, with their vectors and polarity, for search.

    `model`: a loaded model with vectors, or what `thinstack.load` takes. `len(index)` is the number
    of different phrases. Phrases that differ only in case and spaces count as one.

    A phrase with D numbers takes about 2 D + 150 bytes of memory, and 2 D + 30 in a file, in
    addition to the texts. Search is exact up to a million phrases. Beyond that, it uses a graph of
    `usearch` (extra `index`), which the first search builds.

    Raises InputError for a model without vectors, and what `thinstack.load` raises.
    """

    source: str = ""
    """Your note about the texts, which is saved with the index."""

    def __init__(self, model: Predictor | str | Path = "vectors"):
        if not isinstance(model, Predictor):
            model = Predictor(open_bundle(model))
        need_vectors(model, "a phrase index")
        self.model, self._table = model, PhraseTable(model.width)
        self._graph: Graph | None = None

    def __len__(self) -> int:
        return len(self._table)

    @property
    def texts(self) -> int:
        """Number of texts."""
        return len(self._table.texts)

    def __repr__(self) -> str:
        return f"<PhraseIndex of {len(self):,} phrases of {len(self._table.texts):,} texts>"

    def add(
        self,
        texts: Iterable[str],
        ids: Iterable[object] | None = None,
        *,
        on_error: OnError | None = None,
    ) -> None:
        """Add the phrases of an iterable of English texts. Except for the index itself, memory
        stays bounded.

        `ids`: one per text, such as its number or its row as a dict; any value that JSON can
        represent. Hits contain it. `on_error`: as for `Predictor.stream`; a failed text has no
        phrases. Missing texts, such as None, NaN or "N/A", are skipped without an error.

        Raises InputError for too few or too many ids, and for an id that JSON cannot represent; and
        what `Predictor.stream` raises. Earlier texts may then already be in the index.
        """
        check_container(texts, "several texts")
        pairs = zip(texts, repeat(None)) if ids is None else zip_longest(texts, ids, fillvalue=_END)
        waiting = deque[str]()  # the ids of texts that are being scored

        def read() -> Iterator[str]:
            for text, id in pairs:
                if text is _END or id is _END:
                    few = "more" if text is _END else "fewer"
                    raise InputError(f"ids: expected one per text, found {few}")
                waiting.append(_json(id))
                yield "" if is_missing_cell(text) else text  # type: ignore[misc]  # or no text

        for result in self.model.stream(read(), on_error=on_error):
            self._table.add(result, waiting.popleft())

    def search(
        self,
        query: str,
        top: int = 10,
        *,
        side: Side | None = None,
        min_similarity: float | None = None,
        sign: bool = True,
        where: Callable[[Any], object] | None = None,
        exact: bool | None = None,
    ) -> list[Hit]:
        """Return the phrases closest in meaning to the query, the best first.

        `side`: find only phrases whose label is "negative", or "positive". `min_similarity`: ignore
        phrases whose cosine is below this. `sign`: rank by the cosine plus 0.3 s(q) s(p), where
        s(p) is the square root of |p|, with the sign of the polarity p. This puts "it crashes" far
        from "it never crashes". False ranks by the cosine alone, as for a model without sentiment.
        `where`: called with the id of a text; returns whether to search and count its phrases.
        `exact`: True compares all phrases, as with `where` and `min_similarity`, and False uses the
        graph; by default, their number decides.

        Of phrases that overlap in a text, and of phrases that differ only in words such as "the"
        and "is" (`was slow`, `slow`), only the best is returned.

        Raises InputError for a query without words, `top` below 1, `min_similarity` outside -1 to
        1, and a `side` that is unknown or that the model does not have. Raises MissingExtraError
        for `exact=False` without usearch; by default, a warning is issued and all phrases are
        compared.
        """
        if not isinstance(top, int | np.integer) or top < 1:
            raise InputError(f"top: expected a whole number, at least 1, found {shown(top)}")
        least = min_similarity
        if least is not None and not (
            isinstance(least, int | float | np.floating) and -1 <= least <= 1
        ):
            expected = "expected a number from -1 to 1"
            raise InputError(f"min_similarity: {expected}, found {shown(least)}")
        if side is not None and side not in [*_SIDES]:
            raise InputError(f'side: expected "negative" or "positive", found {shown(side)}')
        if side is not None and self.model.view.polarity is None:
            raise InputError(
                "side: works only with a sentiment model, and this one has no negative and "
                "positive phrases: remove it"
            )
        choice: object = where
        if choice is not None and not callable(choice):
            problem = f"expected a function of a text's id, found {shown(choice)}"
            raise InputError(f"where: {problem}: omit it to search all texts")
        row = row_of(self.model(query), sign=sign) if isinstance(query, str) else None
        if row is None or not is_word(query):
            expected = f"expected a text{' with words' * isinstance(query, str)}"
            advice = 'pass words, such as "slow service"'
            raise InputError(f"query: {expected}, found {shown(query)}: {advice}")
        if len(row) == self.model.width:
            row = np.append(row, np.float32(0))  # the sign is not used
        return list(islice(self._hits(row, side, least, where, exact), top))

    def _hits(
        self,
        query: NDArray[np.float32],
        side: Side | None,
        least: float | None,
        where: Callable[[Any], object] | None,
        exact: bool | None,
    ) -> Iterator[Hit]:
        table, polarity = self._table, self._table.column("polarity")
        mentions = table.by_phrase
        if where is not None:
            texts = np.array([bool(where(json.loads(id))) for id in table.ids], np.bool_)
            text_of = table.column("sentences").reshape(-1, 3)[:, 0]
            mentions = mentions.kept(texts[text_of[mentions.places[:, 0]]])
        counts = np.diff(mentions.starts)
        allowed = counts > 0
        if side is not None:
            allowed &= table.column("sides") == _SIDES[side]
        all_compared = exact or where is not None or least is not None
        graph = None if all_compared else self._graph_of(exact)
        if graph is None:
            scores = cosines(table.vectors, query[:-1])
            if least is not None:
                allowed &= scores >= least
            scores += query[-1] * signs(polarity)
            order = best_first(np.where(allowed, scores, np.float32(-np.inf)))
        else:
            order = (number for number in graph.best_first(query) if allowed[number])
        for number, sentence, start, end in places_of(order, mentions, table):
            text, first, last = table.sentences[3 * sentence : 3 * sentence + 3]
            words, place = table.texts[text], float(polarity[number])
            cosine = float(table.vectors[number].astype(np.float32) @ query[:-1])  # from float16
            yield Hit(
                text=words,
                phrase=words[start:end],
                start=start,
                end=end,
                sentence=words[first:last],
                similarity=round(min(cosine, 1.0), _DIGITS),
                polarity=None if math.isnan(place) else round(place, _DIGITS),
                count=int(counts[number]),
                id=json.loads(table.ids[text]),
            )

    def _graph_of(self, exact: bool | None) -> Graph | None:
        """Return the graph over all phrases, if there are many or a user requires it."""
        if exact is None and len(self) <= EXACT:
            return None
        try:
            self._graph = self._graph or Graph(self._table.width)
        except MissingExtraError as error:
            if exact is not None:
                raise
            problem = f"all {len(self):,} phrases are compared with each query; for faster answers"
            warnings.warn(f"{problem}, {error}", stacklevel=outside())
            return None
        self._graph.extend(self._table)
        return self._graph

    def save(self, path: FilePath) -> None:
        """Write the index to a file. If writing is interrupted, an existing file stays intact.
        Raises OSError."""
        bundle = self.model.bundle
        name = installed_name(bundle.path) or str(bundle.path.absolute())
        about = {"model": name, "digest": bundle.manifest.digest, "source": self.source}
        write_index(path, self._table, **about)

    @classmethod
    def load(cls, path: FilePath, model: Predictor | str | Path | None = None) -> Self:
        """Load an index from a file. Files contain no code and are validated.

        `model`: the model that built it; by default, loaded from its original location.

        Raises DataError for a file that is not an index, is damaged, or contains vectors of another
        model; and what `thinstack.load` raises.
        """
        header, table = read_index(path)
        if model is None:
            if is_address(header.model):
                raise DataError(f"{path}: its model is not installed: pass one with model=")
            model = header.model
        index = cls(model)
        digest = index.model.bundle.manifest.digest
        if (digest, index.model.width) != (header.digest, header.width):
            problem = (
                f"its vectors ({header.width} numbers) come from the model {header.digest:.12}, "
                f"not from {digest:.12} ({index.model.width} numbers)"
            )
            advice = "load it with the model that built it, or build it again from the texts"
            raise DataError(f"{path}: {problem}: {advice}")
        index._table, index.source = table, header.source
        return index


def _json(id: object) -> str:
    """Serialize an id as JSON, numpy numbers as Python numbers."""
    with suppress(ValueError, TypeError, AttributeError, RecursionError):
        text = json.dumps(id, allow_nan=False, default=lambda value: value.item())
        if bool(json.loads(text) == id):
            return text
    problem = f"ids: expected a value that JSON can represent, found {shown(id, 60)}"
    raise InputError(f"{problem}: pass a number or a string")
