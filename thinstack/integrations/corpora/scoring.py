"""Scores texts into columns of rows, one per phrase, sentence, text or aspect."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import TreeSource
from thinstack.core.transitions import parents_of, spans_of
from thinstack.errors import InputError
from thinstack.integrations.corpora.inputs import Problem, Row
from thinstack.integrations.corpora.scored_rows import (
    NOTHING,
    VECTOR,
    IntArray,
    Layout,
    Output,
    Rows,
)
from thinstack.runtime.aspects import Asked, about, aspects, term_cells, term_columns
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import Scored, ScoredText, stored, text_scores
from thinstack.runtime.vectors import need_vectors, text_vector
from thinstack.text.batching import BATCH_CHARACTERS, each_part, in_batches
from thinstack.text.sentences import Sentence, splitter

BATCH_ROWS: Final = 1 << 12
"""Maximum number of rows scored at once: sentences of similar length then run together, which is
1.15 times as fast as with 128 rows."""

_MOST_MESSAGE = 500  # characters of a library's error message


class TextScorer:
    """Scores texts with a model. `source`: the source of trees. `output`: the unit of a row.
    `vectors`: whether rows have vectors. `about`: terms and categories that are columns of
    documents. `layout`: the layout of its rows, including the `input_columns`.

    Raises InputError for a source that the model does not support, for phrases if the model scores
    only whole sentences, and for aspects if it does not find terms; also for vectors of aspects or
    of a model without vectors, and without vectors for a model without labels.
    """

    def __init__(
        self,
        predictor: Predictor,
        output: Output,
        source: TreeSource = "auto",
        *,
        vectors: bool = False,
        about: Asked = (),
        input_columns: Sequence[str] = (),
    ):
        predictor.check_reads_texts()
        if about and output != "documents":
            raise InputError("terms need document rows: choose --output documents")
        terms = term_columns(about, predictor)
        if not vectors:
            predictor.view.need_labels("scored rows")
        elif output == "aspects":
            raise InputError("aspect rows have no vectors: choose --output phrases")
        else:
            need_vectors(predictor, "vectors")
        if output == "phrases" and not predictor.phrases:
            raise InputError(
                "this model scores only whole sentences, not phrases: choose --output sentences or "
                "--output documents"
            )
        if output == "aspects":
            aspects([], predictor.view)
        self.predictor, self.source, self.about = predictor, source, about
        width = predictor.width * vectors
        self.layout = Layout(predictor.labels, output, width, terms, input_columns)
        self._cut = splitter()
        predictor.tree_maker(source)

    def __call__(self, rows: Sequence[Row]) -> tuple[Rows, dict[int, Problem]]:
        """Score texts. Returns the rows, whose `text` is an index of `rows`; and by this index, the
        problems of the texts without scores: those of rows, and those of scoring."""
        problems = {place: row.problem for place, row in enumerate(rows) if row.problem}
        places = [place for place in range(len(rows)) if place not in problems]
        scored = [self.make_rows(np.zeros(0, np.int64))]
        # Errors of the model, onnxruntime or memory, for one text or all.
        for part, result in each_part(
            places, lambda part: self.score([rows[place].text for place in part]), Exception
        ):
            if isinstance(result, Exception):
                message = f"{type(result).__name__}: {result}"[:_MOST_MESSAGE]
                problems[part[0]] = Problem("failed", message)
            else:
                result["text"] = np.array(part, np.int64)[result["text"]]
                scored.append(result)
        return in_order(scored), problems

    def score(self, texts: Sequence[str]) -> Rows:
        """Return the scored rows of texts. A text without words, or without aspects, has one row
        without label and scores."""
        cut = list(self._cut(texts))
        words = [[sentence.words for sentence in sentences] for sentences in cut]
        said = self.predictor.score_texts(words, self.source)
        sizes = np.array([len(text) for text in texts], np.int64)
        output = self.layout.output
        if output == "documents":
            return self._documents(said, cut, sizes)
        flat = list(chain.from_iterable(cut))
        scored = [sentence for text in said for sentence in text.sentences]
        makers = {"aspects": self._aspects, "phrases": self._phrases, "sentences": self._sentences}
        counts = np.array([len(sentences) for sentences in cut], np.int64)
        parts = [makers[output](scored, flat, counts)] if flat else []
        bare = np.setdiff1d(np.arange(len(texts)), parts[0]["text"] if parts else ())
        places = {} if output == "aspects" else {"start": 0, "end": sizes[bare]}
        return in_order([*parts, self.make_rows(bare, **places)])

    def make_rows(
        self, text: IntArray, scores: NDArray[np.float32] | None = None, **fields: Any
    ) -> Rows:
        """Create rows from the indices of texts, with the labels and the polarity that follow from
        their scores, and other `fields` of `Layout.dtype`."""
        view = self.predictor.view
        if scores is not None:
            fields["scores"] = scores
            if self.layout.labels:
                best = view.best(scores)
                share = np.take_along_axis(scores, best[:, None], axis=1)[:, 0]
                # Also without scores.
                fields["label"] = np.where(share >= view.abstain, best, NOTHING)
            if view.polarity is not None:
                fields["polarity"] = view.mean_places(scores)
        return self.layout.rows(text, **fields)

    def _documents(
        self, said: list[ScoredText], cut: list[list[Sentence]], sizes: IntArray
    ) -> Rows:
        scores = np.full((len(cut), len(self.layout.labels)), np.nan, np.float32)
        vectors = np.full((len(cut), self.layout.vectors), np.nan, np.float16)
        terms, view = list[list[float]](), self.predictor.view
        lengths = [[len(sentence.words) for sentence in sentences] for sentences in cut]
        if worded := [place for place, sentences in enumerate(cut) if sentences]:
            flat = np.array([*chain.from_iterable(lengths)])
            scores[worded] = text_scores([said[place] for place in worded], flat)
        for place, text in enumerate(said):
            if lengths[place] and self.layout.vectors:
                roots = [stored(sentence.vectors)[-1] for sentence in text.sentences]
                vectors[place] = text_vector(roots, lengths[place], text.joint)
            if self.about:
                pairs = zip(cut[place], text.sentences, strict=False)
                predictions = [Prediction.of_sentence(*one, view, self.predictor) for one in pairs]
                terms.append([*term_cells(about(predictions, view, self.about), self.about)])
        rows = self.make_rows(np.arange(len(cut)), scores, vector=vectors, start=0, end=sizes)
        if terms:
            rows["terms"] = terms
        return rows

    def _sentences(self, scored: list[Scored], flat: list[Sentence], counts: IntArray) -> Rows:
        text, sentence = _numbered(counts)
        starts = np.array([one.start for one in flat], np.int64)
        fields: dict[str, Any] = {"sentence": sentence, "start": starts}
        fields["end"] = starts + np.array([len(one.text) for one in flat], np.int64)
        if self.layout.vectors:
            fields[VECTOR] = np.stack([stored(one.vectors)[-1] for one in scored])
        return self.make_rows(text, np.stack([one.scores[-1] for one in scored]), **fields)

    def _phrases(self, scored: list[Scored], flat: list[Sentence], counts: IntArray) -> Rows:
        text, sentence = _numbered(counts)
        transitions = np.concatenate([one.transitions for one in scored])
        nodes = np.array([len(one.transitions) for one in scored], np.int64)
        owner, node = _numbered(nodes)
        first = np.repeat(np.cumsum(nodes) - nodes, nodes)
        parents = parents_of(transitions)[0]
        spans = spans_of(transitions)
        words = np.concatenate([one.offsets + one.start for one in flat])
        fields: dict[str, Any] = {"sentence": sentence[owner], "node": node}
        fields["parent"] = np.where(parents == NOTHING, NOTHING, parents - first)
        fields |= {"start": words[spans[:, 0], 0], "end": words[spans[:, 1] - 1, 1]}
        if self.layout.vectors:
            fields[VECTOR] = np.concatenate([stored(one.vectors) for one in scored])
        scores = np.concatenate([one.scores for one in scored])
        return self.make_rows(text[owner], scores, **fields)

    def _aspects(self, scored: list[Scored], flat: list[Sentence], counts: IntArray) -> Rows:
        places, scores = list[tuple[int, ...]](), list[NDArray[np.float32]]()
        for text, number, sentence, said in zip(*_numbered(counts), flat, scored, strict=True):
            prediction = Prediction.of_sentence(sentence, said, self.predictor.view)
            for aspect in prediction.aspects:
                because = aspect.because
                why = (NOTHING, NOTHING) if because is None else (because.start, because.end)
                places.append((text, number, aspect.start, aspect.end, *why))
                scores.append(prediction.node_scores[aspect.node])
        texts, *columns = np.array(places, np.int64).reshape(-1, 6).T
        fields: dict[str, Any] = dict(zip(self.layout.places[1:], columns, strict=True))
        return self.make_rows(texts, np.stack(scores) if scores else None, **fields)


def in_order(parts: Sequence[Rows]) -> Rows:
    """Concatenate the rows of at least one part, in the order of their texts."""
    rows = np.concatenate(parts)
    return rows[np.argsort(rows["text"], kind="stable")]


def _numbered(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return, for `counts` consecutive items per owner, the owner of each item, and its index
    within that owner."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)


def batches_of(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Split the rows into batches with a bounded number of rows and of characters."""
    return in_batches(rows, BATCH_ROWS, lambda row: len(row.text), BATCH_CHARACTERS)
