"""Makes examples of sentences with terms, their trees and what each node has to say; the loss of
what they say; and what a model says of the terms, beside what the data say."""

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
from thinstack.evaluate.aspect_figures import Judged
from thinstack.evaluate.suite import AspectCase, CaseTerm
from thinstack.evaluate.suite_evaluation import judged_cases
from thinstack.runtime.aspects import chosen_terms
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import Scored
from thinstack.text.with_phrases import with_phrases
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import labelled_tree
from thinstack.training.loop.losses import beside_parsing, joint_of, sent
from thinstack.training.task import Losses, Step
from thinstack.training.tasks.aspects.reading import LabelledSentence

if TYPE_CHECKING:
    from thinstack.training.tasks.aspects import Aspects

Scores = Sequence[NDArray[np.floating]]


def sides_of(labels: Sequence[str]) -> tuple[int, ...]:
    """The sides of the classes behind "no term": -1 negative, 0 neutral, 1 positive."""
    scale = Scale.of(labels[1:])
    assert scale is not None, "the task has looked"
    return scale.sides


def judged_examples(
    examples: Sequence[Example], scores: Scores, source: str, labels: Sequence[str]
) -> Iterator[Judged]:
    """The terms of examples, and what a model says of them by its `scores` (N, C) over the trees of
    `source`. Places are words. A term that is no phrase is judged by the smallest one around it."""
    sides = sides_of(labels)
    for example, rows in zip(examples, scores, strict=True):
        gold, spans_there = example.gold, spans_of(example.trees[source].forest.transitions)
        places = spans_of(gold.forest.transitions).tolist()
        terms = [
            (places[node][0], places[node][1], sides[int(gold.targets[node]) - 1])
            for node in np.flatnonzero(gold.targets > 0).tolist()
        ]
        said = [sides[place] for place in rows[:, 1:].argmax(1).tolist()]
        spans = [(start, end) for start, end in spans_there.tolist()]
        # Of the nodes around a term, the smallest comes first.
        starts, ends = spans_there.T
        nodes = [int(((starts <= a) & (ends >= b)).argmax()) for a, b, _ in terms]
        words = [True] * spans[-1][1]
        chosen = chosen_terms(spans, (1 - rows[:, 0]).tolist(), words)
        yield Judged(
            terms,
            [said[node] for node in nodes],
            [spans[node] == term[:2] for node, term in zip(nodes, terms, strict=True)],
            [(*spans[node], said[node]) for node in chosen],
        )


def judged_bundle(
    predictor: Predictor, sentences: Sequence[LabelledSentence], labels: Sequence[str]
) -> list[Judged]:
    """What a bundle says of sentences, whose texts it reads as raw text. Places are characters."""
    names = {-1: "negative", 0: "neutral", 1: "positive"}
    side_of = dict(zip(labels[1:], sides_of(labels), strict=True))
    cases, cut = [], []
    for text, group in groupby(sentences, key=lambda sentence: sentence.text):
        cut.append(list(group))
        terms = [
            CaseTerm(*sentence.characters(start, end), names[side_of[label]])
            for sentence in cut[-1]
            for start, end, label in sentence.terms
        ]
        cases.append(AspectCase("", "open", "", tuple(terms), text))
    judged = judged_cases(predictor, cases, sides_of(labels))
    assert judged is not None, "the model scores phrases"
    pairs = zip(judged, cut, strict=True)
    return [_within(one, sentence) for one, group in pairs for sentence in group]


def _within(judged: Judged, sentence: LabelledSentence) -> Judged:
    """The part of a text that is one sentence."""
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
    """An example for each sentence, as the `task` weighs its parts. Its tree is that of the guide,
    the bundle `name`, changed so that every term is a phrase. Its soft labels are as
    `aspect_losses` takes them.

    Raises ConfigError for a bundle that makes no trees, does not score phrases, or is none of
    sentiment; and for sentences without labels, if it finds no terms.
    """
    guide, labels = Predictor(open_bundle(name)), config.labels
    finds, scale = guide.view.no_term is not None, guide.view.scale
    if not (guide.config.parses and guide.phrases and scale):
        raise ConfigError(
            "task.guide, or else the bundle of [init]: expected one that parses and "
            f"scores the sentiment of phrases, which {name} does not; use another, such "
            "as sentiment"
        )
    if not finds and not all(sentence.labelled for sentence in sentences):
        raise ConfigError(
            "task.tables: expected the columns start, end and label, found a table without "
            "them; only a guide of aspects labels such texts (task.guide)"
        )
    words = [sentence.words for sentence in sentences]
    trees = [
        with_phrases(parsed.transitions, [term[:2] for term in sentence.terms])
        for sentence, parsed in zip(sentences, guide.trees_and_scores(words, "self"), strict=True)
    ]
    adds = (np.array(scale.sides)[:, None] == np.array(sides_of(labels))).astype(np.float32)
    examples = []
    for sentence, said in zip(sentences, guide.trees_and_scores(words, trees), strict=True):
        targets = _targets(sentence, said, labels)
        share = (task.alpha if finds else 1.0) if sentence.labelled else 0.0
        tree = Tree.from_transitions(said.transitions, sentence.words)
        gold = labelled_tree(tree, targets, vocabulary, config, "nodes")
        soft = _soft(said.scores @ adds, said.terms, targets, share, task)
        examples.append(Example({"gold": gold._replace(soft=soft)}))
    return examples


def _targets(sentence: LabelledSentence, said: Scored, labels: Sequence[str]) -> NDArray[np.int64]:
    """The class (N,) of each node: that of its label, "no term" (0), or -1 if nobody says."""
    spans = spans_of(said.transitions).tolist()
    node_of = {(start, end): node for node, (start, end) in enumerate(spans)}
    targets = np.full(len(spans), 0 if sentence.labelled else -1)
    for start, end, label in sentence.terms:
        targets[node_of[start, end]] = labels.index(label)
    return targets


def _soft(
    masses: NDArray[np.float32],
    terms: NDArray[np.float32] | None,
    targets: NDArray[np.int64],
    share: float,
    task: "Aspects",
) -> NDArray[np.float16]:
    """How probably each node is no term, and how much each class of sentiment counts, (N, C). The
    data's labels, `targets` (N,), have the `share` of them; the rest have the guide's `masses` of
    the classes of sentiment (N, C - 1), and its probabilities of `terms` (N,)."""
    sentiment = masses / masses.sum(1, keepdims=True).clip(1e-6)
    at_term = (targets > 0).astype(np.float32)
    labels = np.eye(masses.shape[1] + 1, dtype=np.float32)[targets][:, 1:]
    terms = share * at_term + (1 - share) * (at_term * 0 if terms is None else terms)
    at_terms = at_term[:, None] * share
    mixed = at_terms * labels + (1 - at_terms) * sentiment
    counts = task.phrase_weight + terms * (task.polarity_weight - task.phrase_weight)
    return np.concatenate([1 - terms[:, None], counts[:, None] * mixed], 1).astype(np.float16)


def aspect_losses(step: Step) -> Losses:
    """The losses of the nodes and of a parser, each summed, and the numbers of cases in each sum.

    "No term", class 0, is learnt apart from the other classes among themselves. So a node that is
    no term may have a sentiment too. The soft labels (t, C) of the minibatch have in column 0 how
    probably a node is no term, and in the others how much each class of sentiment counts. A row of
    zeros says nothing.
    """
    model, batch = step.model, step.batch
    joint = joint_of(model, model.inputs(batch.forest), step.training)
    assert batch.soft is not None, "a guide has made the examples"
    soft = sent(batch.soft, joint.logits)
    logs = joint.logits.log_softmax(1)
    no_term, term = logs[:, 0], logs[:, 1:].logsumexp(1)
    sentiment = logs[:, 1:] - term[:, None]
    said = soft.any(1)
    loss = -(soft[:, 0] * no_term + (1 - soft[:, 0]) * said * term).sum()
    loss = loss - (soft[:, 1:] * sentiment).sum()
    return beside_parsing(model, batch, joint, (loss, len(batch.targets)))
