"""The examples of sentences with terms, labeled by a guide; their loss; and the terms and opinions
that a model or a bundle predicts for them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.core.scale import Scale
from thinstack.core.transitions import spans_of
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError
from thinstack.evaluate.accuracy import Judged
from thinstack.evaluate.suite import AspectCase, CaseTerm
from thinstack.evaluate.suite_evaluation import judged_cases
from thinstack.runtime.aspects import chosen_terms
from thinstack.runtime.predictor import Predictor
from thinstack.text.with_phrases import with_phrases
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import labelled_tree
from thinstack.training.loop.losses import beside_parsing, joint_of, sent
from thinstack.training.task import Losses, Step
from thinstack.training.tasks.aspects.reading import LabelledSentence

if TYPE_CHECKING:
    from thinstack.training.tasks.aspects import Aspects


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


def aspect_losses(step: Step) -> Losses:
    """Return the losses of the nodes and of a parser, and the numbers of cases.

    "No term", class 0, is trained separately from the other classes, so that a node that is not a
    term also has a sentiment. Column 0 of the soft labels (t, C) is the probability of being no
    term; the others are the weights of the polarities. A row of zeros has no loss.
    """
    model, batch = step.model, step.batch
    joint = joint_of(model, model.inputs(batch.forest), step.training)
    assert batch.soft is not None, "examples come from a guide"
    soft = sent(batch.soft, joint.logits)
    logs = joint.logits.log_softmax(1)
    no_term, term = logs[:, 0], logs[:, 1:].logsumexp(1)
    sentiment = logs[:, 1:] - term[:, None]
    loss = -(soft[:, 0] * no_term + (1 - soft[:, 0]) * soft.any(1) * term).sum()
    loss = loss - (soft[:, 1:] * sentiment).sum()
    return beside_parsing(model, batch, joint, (loss, len(batch.targets)))
