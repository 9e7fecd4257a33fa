"""Sentences with terms: read from a table, labeled by a guide, and the terms and opinions that a
model or a bundle predicts for them."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.core.scale import Scale
from thinstack.core.transitions import spans_of
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table_rows import TableRow
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError, DataError
from thinstack.evaluate.accuracy import Judged
from thinstack.evaluate.suite import AspectCase, CaseTerm
from thinstack.evaluate.suite_evaluation import judged_cases
from thinstack.runtime.aspects import chosen_terms
from thinstack.runtime.predictor import Predictor
from thinstack.text.given_trees import with_phrases
from thinstack.text.sentences import Sentence
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import labelled_tree
from thinstack.training.tasks._table import check_label, located, no_words
from thinstack.training.tasks.spans import ENDS, characters, word_span

if TYPE_CHECKING:
    from thinstack.training.tasks.aspects import Aspects


class LabelledSentence(NamedTuple):
    """A sentence with its terms.

    Attributes:
        text: the text that contains it.
        words: its L words.
        offsets: (L, 2) the characters [start, end) of each word in the text.
        terms: the words [start, end) of each term, and its label.
        labelled: whether its terms are known.
    """

    text: str
    words: list[str]
    offsets: NDArray[np.int64]
    terms: list[tuple[int, int, str]]
    labelled: bool = True

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of the words [start, end) in the text."""
        return int(self.offsets[start, 0]), int(self.offsets[end - 1, 1])

    def term(self, start: int, end: int) -> str:
        """Return the words [start, end) for a message."""
        first, last = self.characters(start, end)
        return f"{self.text[first:last]!r:.60}"


def read_sentences(
    path: FilePath,
    task: "Aspects",
    labels: Sequence[str],
    skipped: list[DataError] | None,
    *,
    labelled: bool = True,
) -> list[LabelledSentence]:
    """Return the sentences of the texts of a table, with the terms of all rows of each text, unless
    the table is not `labelled`.

    A row is also bad if its label is not one of `labels`, if its term is not whole words of one
    sentence, or if its term crosses another or has another label in another row. Repeated rows are
    ignored. `skipped`: as in `TableTask.rows`. Texts with a bad row are skipped entirely, because
    the missing term would be treated as no term.
    """
    texts: dict[str, list[TableRow]] = {}
    if labelled:
        table = task.rows(path, skipped, labels)
    else:
        table = task.table(path).rows([task.text_column], skipped=skipped, advice=task.advice)
    for row in table:
        texts.setdefault(row.values[task.text_column], []).append(row)
    sentences: list[LabelledSentence] = []
    for (text, rows), cut in zip(texts.items(), task.splitter()(list(texts)), strict=True):
        parts = [
            LabelledSentence(text, part.words, part.offsets + part.start, [], labelled)
            for part in cut
        ]
        bad = len(skipped or ())
        for row in rows if labelled else ():
            with located(path, row, skipped):
                _add(row, cut, parts, task, labels)
        if len(skipped or ()) == bad:
            sentences.extend(parts)
    return sentences


def _add(
    row: TableRow,
    cut: Sequence[Sentence],
    sentences: Sequence[LabelledSentence],
    task: "Aspects",
    labels: Sequence[str],
) -> None:
    """Add the term of a row to its sentence. Raises DataError if it does not fit the others."""
    text, label = row.values[task.text_column], row.values[task.label_column]
    first, last = (row.values[name] for name in ENDS)
    if not cut:
        raise no_words(task.text_column, text)
    if not (label or first or last):
        return
    if not (label and first and last):
        empty = [name for name in (*ENDS, task.label_column) if not row.values[name]]
        raise DataError(
            f"expected {', '.join(ENDS)} and {task.label_column} for a term, or none of them, "
            f"found nothing in {' and '.join(empty)}"
        )
    check_label(label, labels, task.label_column, "the labels")
    begin, _ = characters(first, last)
    place = max(bisect_right([sentence.start for sentence in cut], begin) - 1, 0)
    start, end = word_span(text, cut[place], first, last)
    sentence = sentences[place]
    for other_start, other_end, other in sentence.terms:
        if (start, end, label) == (other_start, other_end, other):
            return
        if (start, end) == (other_start, other_end):
            raise DataError(
                f"expected one label per term, found {other} and {label} for "
                f"{sentence.term(start, end)}; leave one row out"
            )
        if start < other_start < end < other_end or other_start < start < other_end < end:
            raise DataError(
                f"expected terms that do not cross, found {sentence.term(start, end)} and "
                f"{sentence.term(other_start, other_end)}; leave one row out"
            )
    sentence.terms.append((start, end, label))


def sides_of(labels: Sequence[str]) -> tuple[int, ...]:
    """Return the polarities of the classes after "no term": -1 negative, 0 neutral, 1 positive."""
    scale = Scale.of(labels[1:])
    assert scale is not None, "the task has checked it"
    return scale.sides


def judged_examples(
    examples: Sequence[Example],
    scores: Sequence[NDArray[np.floating]],
    source: str,
    labels: Sequence[str],
) -> Iterator[Judged]:
    """Yield the terms of each example, in words, and those that a model predicts with the `scores`
    (N, C) of its nodes over the trees of `source`. A term that is not a phrase gets the polarity of
    the smallest phrase around it."""
    sides = sides_of(labels)
    for example, rows in zip(examples, scores, strict=True):
        gold, bounds = example.gold, spans_of(example.trees[source].forest.transitions)
        places, spans = spans_of(gold.forest.transitions), [(a, b) for a, b in bounds.tolist()]
        terms = [
            (*places[node].tolist(), sides[int(gold.targets[node]) - 1])
            for node in np.flatnonzero(gold.targets > 0)
        ]
        predicted = [sides[place] for place in rows[:, 1:].argmax(1).tolist()]
        starts, ends = bounds.T
        # In transition order, the smallest of the nodes around a term is the first.
        nodes = [int(((starts <= a) & (ends >= b)).argmax()) for a, b, _ in terms]
        chosen = chosen_terms(spans, (1 - rows[:, 0]).tolist(), [True] * spans[-1][1])
        yield Judged(
            terms,
            [predicted[node] for node in nodes],
            [spans[node] == term[:2] for node, term in zip(nodes, terms, strict=True)],
            [(*spans[node], predicted[node]) for node in chosen],
        )


def judged_bundle(
    predictor: Predictor, sentences: Sequence[LabelledSentence], labels: Sequence[str]
) -> list[Judged]:
    """Return the terms of each sentence, in characters, and those that a bundle predicts for the
    raw texts."""
    polarities = {-1: "negative", 0: "neutral", 1: "positive"}
    sides = sides_of(labels)
    polarity_of = {label: polarities[side] for label, side in zip(labels[1:], sides, strict=True)}
    texts = [list(group) for _, group in groupby(sentences, key=lambda sentence: sentence.text)]
    cases = []
    for text in texts:
        terms = [
            CaseTerm(*sentence.characters(start, end), polarity_of[label])
            for sentence in text
            for start, end, label in sentence.terms
        ]
        cases.append(AspectCase("", "open", "", tuple(terms), text[0].text))
    judged = judged_cases(predictor, cases, sides)
    assert judged is not None, "the model scores phrases"
    pairs = zip(judged, texts, strict=True)
    return [_within(one, sentence) for one, text in pairs for sentence in text]


def _within(judged: Judged, sentence: LabelledSentence) -> Judged:
    """Return the terms of a text that are in one of its sentences."""
    first, last = sentence.characters(0, len(sentence.words))
    places = [place for place, (start, *_) in enumerate(judged.gold) if first <= start < last]
    return Judged(
        [judged.gold[place] for place in places],
        [judged.sides[place] for place in places],
        [judged.phrases[place] for place in places],
        [term for term in judged.predicted or () if first <= term[0] < last],
    )


def guided_examples(
    name: str,
    sentences: Sequence[LabelledSentence],
    vocabulary: Vocabulary,
    config: ModelConfig,
    task: "Aspects",
) -> list[Example]:
    """Return an example for each sentence, with the tree of the guide, the bundle `name`, changed
    so that every term is a phrase, and with soft labels as in `aspect_losses`.

    Raises ConfigError for a bundle that does not parse or does not score the sentiment of phrases,
    and for sentences without labels if it finds no terms.
    """
    guide, labels = Predictor(open_bundle(name)), config.labels
    finds, scale = guide.view.no_term is not None, guide.view.scale
    if not (guide.config.parses and guide.phrases and scale):
        raise ConfigError(
            "task.guide, or the [init] bundle: expected a bundle that parses and "
            f"scores the sentiment of phrases, which {name} does not; use another, such "
            "as sentiment"
        )
    if not finds and not all(sentence.labelled for sentence in sentences):
        raise ConfigError(
            "task.tables: the columns start, end and label are missing; add them, or set "
            "task.guide to an aspects guide"
        )
    words = [sentence.words for sentence in sentences]
    trees = [
        with_phrases(parsed.transitions, [term[:2] for term in sentence.terms])
        for sentence, parsed in zip(sentences, guide.trees_and_scores(words, "self"), strict=True)
    ]
    same_side = np.array(scale.sides)[:, None] == np.array(sides_of(labels))
    examples = []
    for sentence, scored in zip(sentences, guide.trees_and_scores(words, trees), strict=True):
        spans = list(map(tuple, spans_of(scored.transitions).tolist()))
        targets = np.full(len(spans), 0 if sentence.labelled else -1)
        for start, end, label in sentence.terms:
            targets[spans.index((start, end))] = labels.index(label)
        share = (task.alpha if finds else 1.0) if sentence.labelled else 0.0
        tree = Tree.from_transitions(scored.transitions, sentence.words)
        gold = labelled_tree(tree, targets, vocabulary, config, "nodes")
        masses = scored.scores @ same_side.astype(np.float32)
        soft = _soft(masses, scored.terms, targets, share, task)
        examples.append(Example({"gold": gold._replace(soft=soft)}))
    return examples


def _soft(
    masses: NDArray[np.float32],
    terms: NDArray[np.float32] | None,
    targets: NDArray[np.int64],
    share: float,
    task: "Aspects",
) -> NDArray[np.float16]:
    """Return the probability of each node to be no term, and the weight of each polarity, (N, C).

    The labels in the data, `targets` (N,), have the weight `share`. The rest is the guide's: its
    probabilities `masses` (N, C - 1) of the polarities, and `terms` (N,) of being a term.
    """
    sentiment = masses / masses.sum(1, keepdims=True).clip(1e-6)
    at_term = (targets > 0).astype(np.float32)
    labels = np.eye(masses.shape[1] + 1, dtype=np.float32)[targets][:, 1:]
    terms = share * at_term + (1 - share) * (at_term * 0 if terms is None else terms)
    at_terms = at_term[:, None] * share
    mixed = at_terms * labels + (1 - at_terms) * sentiment
    counts = task.phrase_weight + terms * (task.polarity_weight - task.phrase_weight)
    return np.concatenate([1 - terms[:, None], counts[:, None] * mixed], 1).astype(np.float16)
