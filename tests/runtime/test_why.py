"""What phrases contribute to the label of their sentence."""

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from last_word_model import LABELS, expected
from predictions import sentences_of
from rich.console import Console

import thinstack
from thinstack.core import Tree, transitions
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.errors import InputError
from thinstack.integrations.show.terminal import Drawing
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import Scored
from thinstack.runtime.views import View
from thinstack.runtime.why import Contribution, contributions, turning, why_data

SCALE = ("very negative", "negative", "neutral", "positive", "very positive")


class Told:
    """A predictor that is told what it answers for each sentence, and notes what it was asked."""

    max_words = 400

    def __init__(self, answer: Callable[[str], Sequence[float]], labels: tuple[str, ...] = SCALE):
        self.answer, self.labels, self.asked = answer, labels, []
        self.view = View.of(labels)

    def trees_and_scores(self, words: Any, trees: Any) -> list[Scored]:
        pairs = [Tree.from_transitions(*pair) for pair in zip(trees, words, strict=True)]
        self.asked.append([to_brackets(tree, labelled=False) for tree in pairs])
        rows = [self.answer(" ".join(sentence)) for sentence in words]
        return [Scored(tree, np.array([row])) for tree, row in zip(trees, rows, strict=True)]


def why(brackets, told):
    found = contributions(told, prediction_of(brackets, told.labels))
    assert len({each.text for each in found}) == len(found)
    return {each.text: each.contribution for each in found}


def prediction_of(brackets, labels=SCALE):
    tree = from_brackets(brackets, labelled=False)
    scores = np.full((len(tree), len(labels)), 1 / len(labels), np.float32)
    return Prediction.of_words(tree.words, Scored(tree.transitions, scores), View.of(labels))


def sure(tone):
    """Scores whose mean class is this one."""
    low = min(int(tone), 3)
    return [1 - tone + low if i == low else tone - low if i == low + 1 else 0 for i in range(5)]


def test_a_phrase_is_left_out_and_its_sibling_takes_the_place_of_both():
    told = Told(lambda _: sure(3))
    why("((a (b c)) ((d e) f))", told)
    assert told.asked == [
        [
            "( ( a ( b c ) ) ( ( d e ) f ) )",
            "( ( b c ) ( ( d e ) f ) )",
            "( ( a c ) ( ( d e ) f ) )",
            "( ( a b ) ( ( d e ) f ) )",
            "( a ( ( d e ) f ) )",
            "( ( d e ) f )",
            "( ( a ( b c ) ) ( e f ) )",
            "( ( a ( b c ) ) ( d f ) )",
            "( ( a ( b c ) ) f )",
            "( ( a ( b c ) ) ( d e ) )",
            "( a ( b c ) )",
        ]
    ]


ANSWERS = {"good but bad": 1.0, "but bad": 0.5, "bad": 0.25, "good bad": 1.5, "good but": 3.0}


def test_on_a_scale_it_is_the_mean_class_towards_the_label():
    found = why("((good but) bad)", Told(lambda text: sure(ANSWERS[text])))
    assert found == pytest.approx({"good": -0.5, "but": 0.5, "good but": -0.75, "bad": 2.0})
    mirrored = why("((good but) bad)", Told(lambda text: sure(4 - ANSWERS[text])))
    assert mirrored == pytest.approx(found)


def test_for_a_neutral_label_it_is_how_near_to_neutral_a_phrase_brings_it():
    tones = {"good but bad": 1.9, "but bad": 0.5, "bad": 2.3, "good bad": 1.9, "good but": 3.0}
    found = why("((good but) bad)", Told(lambda text: sure(tones[text])))
    assert found == pytest.approx({"good": 1.4, "but": 0, "good but": 0.2, "bad": 0.9})


@pytest.mark.parametrize(
    ("labels", "bad", "good", "moved"),
    [
        (("negative", "positive"), [0.9, 0.1], [0.3, 0.7], 1.2),
        (("negative", "neutral", "positive"), [0.6, 0.2, 0.2], [0.1, 0.1, 0.8], 1.1),
        (("sport", "news", "art"), [0.6, 0.2, 0.2], [0.1, 0.1, 0.8], 0.5),
        (("bad", "good"), [0.9, 0.1], [0.3, 0.7], 0.6),
    ],
)
def test_other_classes(labels, bad, good, moved):
    """Two and three on a scale move the mean; of others it is the label's probability."""
    found = why("(so bad)", Told(lambda text: bad if "bad" in text else good, labels))
    assert found == pytest.approx({"so": 0, "bad": moved})


def turns(tones, brackets):
    """What turns a sentence to 0, if what is left without each of these phrases has this tone."""
    told = Told(lambda _: sure(0))
    texts = [each.text for each in contributions(told, prediction_of(brackets))]
    rows = iter([0.0, *(tones.get(text, 0.0) for text in texts)])
    told.answer = lambda _: sure(next(rows))
    found = contributions(told, prediction_of(brackets))
    one = turning(found)
    assert [each for each in found if each.turning] == ([one] if one else [])
    return one.text if one else None


def test_one_phrase_turns_the_sentence():
    tree = "((a b) ((c d) e))"
    assert turns({"a": 1, "c d e": 2, "e": 1.5}, tree) == "c d e"
    assert turns({"c d e": 2, "c d": 1.97, "d": 1.9}, tree) == "c d"  # level: fewer words
    assert turns({"c d": 2, "d": 1.97, "e": 1.98}, tree) == "e"  # as few: the greater one
    assert turns({}, tree) is None
    assert turns({}, "a") is None


def test_nothing_is_left_without_letters_or_digits():
    told = Told(lambda _: sure(3))
    found = contributions(told, prediction_of("((-LRB- (so good)) (. -RRB-))"))
    texts = [each.text for each in found]
    assert texts == ["-LRB-", "so", "good", ".", "-RRB-", ". -RRB-"]
    assert why("(5 !)", told).keys() == {"!"}


def test_of_a_long_sentence_the_highest_phrases_are_tried():
    told = Told(lambda _: sure(3))
    for shape, count in ((transitions.left, 64), (transitions.balanced, 300)):
        words = [f"w{i}" for i in range(count)]
        scores = np.ones((2 * count - 1, 5), np.float32)
        found = contributions(
            told, Prediction.of_words(words, Scored(shape(count), scores), View.of(SCALE))
        )
        assert [each.node for each in found] == sorted({each.node for each in found})
        assert len(found) == 126
        sizes = sorted((end - start for start, end in (each.span for each in found)), reverse=True)
        if count == 64:
            assert sizes == [*range(63, 1, -1), *[1] * 64]
        else:
            assert sizes[:2] == [150, 150]
            assert sizes[-1] >= 300 // 2**6


def test_what_the_model_says_of_the_rest_counts(last_word):
    predictor = Predictor(last_word, threads=1)
    ((found,),) = sentences_of(predictor, ["A film  so good"], source="left")
    label = LABELS.index("good")
    whole = expected("good", 4)["good"]
    rest = {"A": "good", "film": "good", "so": "good", "good": "so", "A film": "good"}
    wanted = {text: whole - expected(last, 2)["good"] for text, last in rest.items()}
    wanted["A film  so"] = whole - expected("good", 1)["good"]
    assert found.label == LABELS[label]
    copies = predictor.why(found), predictor.why(pickle.loads(pickle.dumps(found)))
    for made in (found.why(), *copies):
        assert {each.text: each.contribution for each in made} == pytest.approx(wanted, abs=1e-6)
    assert turning(found.why()).text == "good"
    last = Contribution(5, (3, 4), "good", pytest.approx(wanted["good"], abs=1e-6), True, 11, 15)
    assert found.why()[-1] == last
    idle = {"contribution": pytest.approx(0), "turning": False}
    assert why_data(found, found.why())[2:4] == [
        {"start": 0, "end": 6, "text": "A film", **idle},
        {"start": 8, "end": 10, "text": "so", **idle},
    ]


@pytest.mark.parametrize(
    ("own", "whole", "expected"),
    [(0, 3, "turned by"), (4, 1, "turned by"), (2, 3, "because of"), (3, 4, "because of")],
)
def test_a_phrase_that_denies_the_label_is_said_to_turn_it(own, whole, expected):
    prediction = prediction_of("((not bad) .)")
    prediction.node_scores[[1, -1]] = np.eye(5)[[own, whole]]
    found = [Contribution(1, (1, 2), "bad", 1.0, turning=True, start=4, end=7)]
    console = Console(width=60)
    with console.capture() as capture:
        console.print(Drawing(prediction, found))
    assert f"{expected}: bad" in capture.get()


def test_too_many_words_have_no_reasons(last_word):
    predictor = Predictor(last_word, threads=1, max_words=4)
    given = predictor.predict([["film"] * 5], source=[transitions.left(5)])
    for found in (*predictor.predict([["film"] * 5]), *given):
        with pytest.raises(InputError, match=r"4 words, .*found 5"):
            found.why()


def test_a_view_explains_its_most_probable_class_even_where_it_abstains():
    words, rest = ["not", "good", "."], ["good", "."]
    five = thinstack.load("sentiment", threads=1)
    given = five.node_scores([words, rest], [transitions.left(3), transitions.left(2)])
    sides = [(row[:2].sum(), row[3:].sum()) for row in (rows[-1] for rows in given)]
    (whole, without) = [(right - left) / (right + left) for left, right in sides]
    for abstain in (None, 0.999):
        view = thinstack.load("sentiment", threads=1, classes=2, abstain=abstain)
        (found,) = view.predict([words], source=[transitions.left(3)])
        assert found.label == (None if abstain else "negative")
        assert found.why()[0].text == "not"
        assert found.why()[0].contribution == pytest.approx(without - whole, abs=1e-5)


def test_copies_are_as_good_but_ask_for_their_predictor(last_word):
    (found,) = Predictor(last_word, threads=1, max_words=2).predict([["so", "good", "!"]])
    for other in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert other.to_dict() == found.to_dict()
        assert other.parts == found.parts
        with pytest.raises(InputError, match=r"predictor\.why\(prediction\)"):
            other.why()
    assert len(pickle.dumps(found)) < 2000
