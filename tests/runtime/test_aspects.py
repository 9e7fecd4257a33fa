"""Terms that a model finds and terms that are named, with trees and scores written by hand."""

import json
import random
import re
from time import process_time

import numpy as np
import pytest
from aspect_models import LABELS, expected, write_aspect_bundle
from predictions import prediction_of

import thinstack
from thinstack.core.scale import FIVE
from thinstack.core.transitions import left
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import InputError
from thinstack.runtime.aspects import about_place
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.scored import Scored
from thinstack.runtime.views import View

CLASS = {"-": 1, "o": 2, "+": 3}
NEUTRAL = re.compile(r"(?<= )[^\s()]+(?= )|(?<!\(\d )(?<= )[^\s()]+(?=\))")
TEXT = "A good battery! Awful staff is here. And a screen."


def of_aspects(brackets, **view):
    """`brackets`: the label of a node is the sign of what is said; then how probably, in percent,
    it is a term."""
    tree, rows = from_brackets(brackets), []
    for label in tree.labels:
        term = int(label[1:] or 0) / 100
        row = np.array([1 - term, *[0.1 * term] * 3]) if term else np.array([0.7, *[0.03] * 3])
        row[CLASS[label[0]]] += 1 - row.sum()
        rows.append(row)
    shown = View.choose(LABELS, view.get("classes"), view.get("abstain"))
    scored = shown.shown(Scored(tree.transitions, np.array(rows, np.float32)))
    return Prediction.of_words(tree.words, scored, shown)


def of_five(brackets, abstain=0.0):
    """`brackets`: labels are the numbers of the treebank; a word without one is neutral."""
    tree = from_brackets(NEUTRAL.sub(r"(2 \g<0>)", brackets))
    scores = np.full((len(tree.labels), 5), 0.05)
    scores[range(len(scores)), [*map(int, tree.labels)]] = 0.8
    return prediction_of(
        tree.words, tree.transitions, scores.astype(np.float32), FIVE, abstain=abstain
    )


def told(aspects):
    """Text, sign and reason of each, such as "battery +: great; menu o"."""
    sign = {"negative": "-", "neutral": "o", "positive": "+", None: "?"}
    reasons = [f": {one.because.text}" if one.because else "" for one in aspects]
    pairs = zip(aspects, reasons, strict=True)
    return "; ".join(f"{one.text} {sign[one.label]}{reason}" for one, reason in pairs)


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        # What decides is the other part of the first phrase of that side.
        (
            "(- (+ (+ great) (+90 battery)) (- (o but) (- (-80 staff) (- (o is) (- bad)))))",
            "battery +: great; staff -: is bad",
        ),
        # It is the phrase itself, where no part says it ...
        ("(- (o (o a) (o long)) (-60 wait))", "wait -: a long wait"),
        # ... and of a neutral term nothing; nor where nothing around the term says the same.
        ("(+ (o60 menu) (+ great))", "menu o"),
        ("(+ (-60 menu) (+ great))", "menu -"),
        ("(- (o x) (+ (-60 menu) (- bad)))", "menu -: x menu bad"),
        # None is inside another: the more probable one is taken.
        ("(o (o the) (+70 (+60 battery) (+65 life)))", "battery life +"),
        ("(+ (+ the) (+60 (+70 battery) (+65 life)))", "battery +: life; life +: battery"),
        # No term ends in or begins with a mark.
        ("(+ (+90 (+80 (+ the) (+70 menu)) (+99 .)) (+ !))", "the menu +"),
        ("(+ (o90 -LRB-) (+60 menu))", "menu +"),
        ("(+ (+ x) (+90 (o -LRB-) (+70 menu)))", "menu +: x"),
        # They stand in the order of the text.
        ("(o (o60 menu) (o80 list))", "menu o; list o"),
        # Half is enough, and less is not.
        ("(+ (+50 menu) (+49 list))", "menu +: list"),
        ("(o good)", ""),
    ],
)
def test_terms_that_a_model_finds(brackets, expected):
    sentence = of_aspects(brackets)
    assert told(sentence.aspects) == expected
    starts = [each.start for each in sentence.aspects]
    assert starts == sorted(starts)
    for each in sentence.aspects:
        assert each.sentence is sentence
        assert each.asked is None
        (node,) = [
            one.node for one in sentence.phrases if (one.start, one.end) == (each.start, each.end)
        ]
        assert each.probability == sentence.terms[node] >= 0.5
        assert each.scores == sentence.phrases[node].scores


@pytest.mark.parametrize(
    ("terms", "brackets", "expected"),
    [
        # The largest phrase of its clause that says something; a term is no reason for itself.
        ("crap", "(1 (1 crap) here)", "crap -"),
        ("menu", "(2 (3 (3 good) menu) here)", "menu +: good"),
        ("screen", "(1 (3 screen (3 is (3 fine))) (1 bad))", "screen -: bad"),
        # A turn above it counts, and another clause does not.
        ("lens", "(3 nothing (1 (1 wrong) (2 with lens)))", "lens +: nothing wrong with lens"),
        ("bar, pub", "(3 (1 (1 Bar (1 (1 bad) ,)) but) (3 pub (3 won)))", "Bar -: bad; pub +: won"),
        ("bar, pub", "(3 (1 (1 Bar (1 fail)) ,) (3 pub (3 won)))", "Bar -: fail; pub +: won"),
        ("staff", "(3 (3 Staff (3 (3 pretty) and)) (3 (3 nice) food))", "Staff +: pretty"),
        ("price", "(3 (3 (3 good) food) (2 but price))", "price -: good food but price"),
        ("price", "(3 But (3 price (3 fair)))", "price +: fair"),
        # Of a neutral clause, what is around it; turned round behind "except" and "than".
        ("food", "(3 (2 Food but) (3 staff (3 shines)))", "Food +: staff shines"),
        ("food", "(3 (3 (3 great) staff) (2 except food))", "food -: great staff except food"),
        ("food", "(3 (3 good) (1 except (1 (1 bad) food)))", "food -: bad"),
        ("food", "(3 I (3 wish (3 food (3 was (3 hot)))))", "food -: I wish food was hot"),
        ("food", "(1 I (1 wish (1 food (1 was (1 cold)))))", "food -: was cold"),
        ("food", "(3 I (3 wish (3 I (3 had (3 food)))))", "food +: wish I had food"),
        ("lens", "(3 I (3 (2 have yet) (1 to (1 fault lens))))", "lens +: have yet to fault lens"),
        # "yet" behind the joint, as models read it.
        ("lens", "(3 I (3 have (1 yet (1 to (1 fault lens)))))", "lens +: have yet to fault lens"),
        ("wait", "(1 (2 a long) wait)", "wait -: a long wait"),
        ("menu", "(2 a menu)", "menu o"),
        # Words that are no phrase: the smallest around them.
        ("a b", "(3 (1 x a) (2 b y))", "a b +: x a b y"),
        # Case, plurals, other names, order of the text, whole words.
        (
            "Price|cost, menu",
            "(3 Menus (3 COSTS (3 prices Pricey)))",
            "Menus +: COSTS prices Pricey; COSTS +: prices Pricey; prices +: prices Pricey",
        ),
        ("battery|battery  life", "(3 battery life)", "battery life +"),
        ("top", "(3 laptop tops)", "tops +: laptop tops"),
        ("life battery", "(3 battery life)", ""),
        ("", "(3 battery life)", ""),
    ],
)
def test_terms_that_are_named_are_judged_by_the_climb(terms, brackets, expected):
    sentence = of_five(brackets)
    found = sentence.about(*filter(None, terms.split(", ")))
    assert told(found) == expected
    assert {each.probability for each in found} <= {1.0}
    assert {each.asked for each in found} <= {*terms.split(", ")}


READ = [
    ("café", "A cafe\u0301.", "cafe\u0301"),
    ("cafe\u0301", "A café.", "café"),
    ("battery", "The ｂａｔｔｅｒｙ.", "ｂａｔｔｅｒｙ"),
    ("office", "Two oﬃces.", "oﬃces"),
    ("battery", "The bat\u00adtery, not that.", "bat\u00adtery"),
    ("batteries", "**Bat\u200btery** life", "Bat\u200btery"),
    ("battery life", "Hm: #BatteryLife", "BatteryLife"),
    ("battery", "Hm: #BatteryLife", "Battery"),
    ("battery", "Hm: #Battery_Life", "Battery"),
    ("life", "Hm: #Battery_Life", "Life"),
    ("#battery", "The battery.", "battery"),
    ("driver's seat", "The driver’s seat", "driver’s seat"),
    ("driver’s seat", "The driver&#39;s seat", "driver&#39;s seat"),
    ("R&D", "The R&amp;D team", "R&amp;D"),
    ("wifi", "The wi\u2011fi.", "wi\u2011fi"),
    ("wi-fi", "The wi fi.", "wi fi"),
    ("dish", "(fish\u2011dish)", "dish"),
    ("quality", "price/quality", "quality"),
    ("set up", "The setup.", "setup"),
    ("don't buy", "I dont buy it", "dont buy"),
    ("new", "The news, then.", None),
    ("len", "A lens.", None),
    ("lrb", "So (well) it goes", None),
]


@pytest.mark.parametrize(("term", "text", "expected"), READ, ids=range(len(READ)))
def test_terms_are_looked_for_as_texts_are_read(sentiment, term, text, expected):
    text = f"😀 {text}"
    found = sentiment(text).about(term)
    assert [each.text for each in found] == ([] if expected is None else [expected])
    for each in found:
        assert text[each.start : each.end] == each.text


def test_words_that_are_given_are_read_plainly_too():
    (found,) = of_five("(3 (2 bat\u00adteries) (2 x))").about("battery")
    assert (found.text, found.start) == ("bat\u00adteries", 0)
    sentence = Prediction.of_words(
        ["New York", "is"], Scored(np.array([0, 0, 1]), np.full((3, 5), 0.2)), View.of(FIVE)
    )
    found = [(each.text, each.start) for each in sentence.about("york|is")]
    assert found == [("York", 4), ("is", 9)]


def test_many_mentions_in_a_sentence_are_judged_in_linear_time(sentiment):
    """Four times the mentions take some four times the CPU time, not sixteen."""

    def seconds(count):
        result = sentiment("bad plot " * count)
        start = process_time()
        assert len(result.about("plot")) == count
        return process_time() - start

    assert any(seconds(2000) < 10 * max(seconds(500), 0.005) for _ in range(3))


def test_what_is_wished_for_ends_with_the_words_of_the_term():
    """What follows the last word of the term is not read: "wish i" is no "wish i "."""
    rng, turned = random.Random(1), 0
    soup = "wish", "i", "we", "if", "only", "x-wish", "food", "if only", "wish we", "wish "
    for count in range(2000):
        words = rng.choices(soup, k=2 + count % 7)
        transitions = left(len(words))
        scores = np.full((len(transitions), 5), 0.05, np.float32)
        scores[range(len(scores)), np.where(transitions, 3, 2)] = 0.8
        sentence = prediction_of(words, transitions, scores, FIVE)
        for place, word in enumerate(words):
            if word in ("i", "we", "only", "food"):
                end = int(sentence.offsets[place, 1])
                (aspect,) = (each for each in sentence.about(word) if each.end == end)
                wish = re.search(r"\b(?:wish (?!i |we )|if only )", " ".join(words[: place + 1]))
                assert aspect.turned == (wish is not None), words
                turned += aspect.turned
    assert turned > 500


def test_equal_terms_share_their_mentions(sentiment):
    names = "battery", "Battery", "batteries", "BATTERY|accu"
    found = sentiment("Batteries, my battery's charge, #battery.").about(*names)
    places = {name: [each.start for each in found if each.asked == name] for name in names}
    assert set(map(tuple, places.values())) == {(0, 14, 33)}


@pytest.mark.parametrize(
    ("term", "brackets", "expected"),
    [
        ("menu", "(+ (-60 menu) (+ great))", "menu -"),
        ("menu", "(- (- bad) (o50 menu))", "menu o"),
        # A part of a term, and words around one, are judged as the term is.
        ("menu", "(- (- bad) (-70 (o lunch) (o49 menu)))", "menu -: bad"),
        ("the menu", "(- (- bad) (o (o the) (-60 menu)))", "the menu -: bad"),
        ("a menu", "(- (o a) (+ (-60 (o menu) (o list)) (o .)))", "a menu -"),
        # The more probable term of two; the mention itself, if it is one.
        ("menu list", "(- (- bad) (o (-60 menu) (+70 list)))", "menu list +"),
        (
            "menu list",
            "(- (- bad) (+60 (o (o a) (-70 menu)) (o (o list) (o .))))",
            "menu list -: bad",
        ),
        ("menu", "(- (- bad) (+90 (o lunch) (-50 menu)))", "menu -: bad"),
        # Where no term is, the climb says it.
        ("menu", "(- (- bad) (o (o the) (o49 menu)))", "menu -: bad"),
        ("menu", "(- (- bad) (-1 menu))", "menu -: bad"),
        ("menu", "(+ (-60 lunch) (+ (o menu) (+ good)))", "menu +: good"),
        ("menu", "(+ (+ (+ good) (o menu)) (-60 lunch))", "menu +: good"),
        ("bad menu", "(o (- (o a) (+ bad)) (+ menu))", "bad menu o"),
        ("menu", "(+ (- so) (- (- bad) (+ non-menu)))", "menu +: so bad non-menu"),
    ],
)
def test_terms_that_are_named_are_judged_by_a_model_of_aspects(term, brackets, expected):
    (found,) = of_aspects(brackets).about(term)
    assert told([found]) == expected
    assert (found.probability, found.asked) == (1.0, term)


def test_without_a_label_nothing_is_said():
    assert told(of_five("(3 (1 bad) (2 menu))", abstain=0.9).about("menu")) == "menu ?"
    sentence = of_aspects("(+ (+ good) (+70 menu))", abstain=0.9)
    assert told(sentence.aspects) == told(sentence.about("menu")) == "menu ?"


def test_a_threshold_for_labels_changes_no_opinion(sentiment):
    """Labels of less than 0.8 are left out; a clause is not neutral for that, nor is "but" gone."""
    text = "The camera is great except for the battery. The screen is not good, but the lens works."
    terms = "battery", "camera", "screen", "lens"
    opinions, cut = sentiment(text).about(*terms), thinstack.load(threads=1, abstain=0.8)
    signs = [(one.text, one.polarity > 0) for one in opinions[:3]]
    assert signs == [("camera", True), ("battery", False), ("screen", False)]
    for one, other in zip(opinions, cut(text).about(*terms), strict=True):
        assert (other.text, other.scores) == (one.text, one.scores)
        assert (other.label, other.because) == (None, None) or max(other.scores.values()) >= 0.8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_aspect_bundle(tmp_path_factory.mktemp("aspects") / "model").path


@pytest.fixture(scope="module")
def model(folder):
    return thinstack.load(folder, threads=1)


def test_the_classes_of_sentiment_are_shown(model, folder):
    assert model.labels == LABELS[1:]
    assert model.view.polarity == (-1, 0, 1)
    (sentence,) = model("awful battery").sentences
    words = [("awful", 1), ("battery", 1), ("battery", 2)]
    terms, scores = zip(*(expected(*each) for each in words), strict=True)
    np.testing.assert_allclose(sentence.terms, terms, atol=1e-6)
    assert sentence.terms.dtype == np.float32
    for phrase, wanted in zip(sentence.phrases, scores, strict=True):
        assert phrase.scores == pytest.approx(wanted, abs=1e-6)
    assert sentence.weight == 1
    two = thinstack.load(folder, threads=1, classes=2)("awful battery").sentences[0]
    shares = {key: scores[2][key] / (1 - scores[2]["neutral"]) for key in ("negative", "positive")}
    assert two.scores == pytest.approx(shares, abs=1e-6)
    assert np.array_equal(two.terms, sentence.terms)
    assert two.weight == 1
    assert thinstack.load(folder, threads=1, classes=3).view == model.view
    with pytest.raises(InputError, match=r"classes: .*very negative.*negative, neutral, positive"):
        thinstack.load(folder, classes=5)


def test_the_class_of_what_is_no_term_may_stand_anywhere():
    view = View.choose(("negative", "no term", "positive"), None, None)
    assert (view.labels, view.no_term) == (("negative", "positive"), 1)
    row = np.array([[0.1, 0.6, 0.3]], np.float32)
    shown = view.shown(Scored(np.zeros(1, np.int8), row))
    np.testing.assert_allclose(shown.scores, [[0.25, 0.75]], atol=1e-6)
    np.testing.assert_allclose(shown.terms, [0.4], atol=1e-6)
    assert view.classes(np.array([0, 1, 2, -1])).tolist() == [0, -1, 1, -1]


def test_a_mark_beside_a_mention_is_none_of_it(model):
    (found,) = model("so good (screen) awful").about("screen")
    assert (found.text, found.label) == ("screen", "neutral")
    assert found.scores == pytest.approx(expected("screen")[1], abs=1e-6)


def test_aspects_of_a_text(model):
    result = model(TEXT)
    assert told(result.aspects) == "battery +; staff -: Awful; screen o"
    for each in result.aspects:
        term, scores = expected(each.text)
        assert TEXT[each.start : each.end] == each.text == str(each)
        assert each.scores == pytest.approx(scores, abs=1e-6)
        polarity = scores["positive"] - scores["negative"]
        assert each.polarity == pytest.approx(polarity, abs=1e-6)
        assert each.probability == pytest.approx(term, abs=1e-6)
    assert [each for one in result.sentences for each in one.aspects] == [*result.aspects]
    staff = result.aspects[1]
    assert repr(staff) == f"<Aspect negative {staff.polarity:+.2f}: 'staff'>"
    assert len({*result.aspects, *result.aspects, *result.about("staff")}) == 4
    assert staff != "staff"
    assert model("").aspects == ()


def test_data_of_aspects(model):
    result = model(TEXT)
    data = json.loads(result.to_json())
    assert data["aspects"] == [each.to_dict() for each in result.aspects]
    for each in data["aspects"]:
        keys = ["text", "start", "end", "label", "polarity", "scores", "because"]
        assert list(each) == keys
        for place in filter(None, (each, each["because"])):
            assert TEXT[place["start"] : place["end"]] == place["text"]
    inside = [(one["text"], each) for one in data["sentences"] for each in one["aspects"]]
    assert len(inside) == 3
    for (text, each), whole in zip(inside, data["aspects"], strict=True):
        for place in filter(None, (each, each["because"])):
            assert text[place["start"] : place["end"]] == place["text"]
        places = {"start": 0, "end": 0, "because": 0}
        assert {**each, **places} == {**whole, **places}
    (asked,) = result.about("screen|display")
    assert asked.to_dict() == {**data["aspects"][2], "asked": "screen|display"}


def test_a_model_that_finds_no_terms_says_what_to_do():
    result = thinstack.load(threads=1)("The staff is awful.")
    for one in (result, *result.sentences):
        with pytest.raises(InputError, match=r'load\("aspects"\).*about\("battery"\)'):
            _ = one.aspects
        assert "aspects" not in one.to_dict()
        assert [each.label for each in one.about("staff")] == ["very negative"]


@pytest.mark.parametrize(
    ("term", "problem"),
    [
        (3, "expected each term to be text.*found 3"),
        (["battery"], r"expected each term to be text.*found \['battery'\]"),
        (None, "expected each term to be text.*found None"),
        ("", "expected a letter or digit.*found ''"),
        (" ", "expected a letter or digit"),
        ("price|", r"expected a letter or digit.*found 'price\|'"),
        ("?!", "expected a letter or digit"),
        ("<br>", "expected a letter or digit"),
        ("bat\udcff", "expected each term to be Unicode"),
    ],
)
@pytest.mark.parametrize("text", ["", "a menu"])
def test_terms_that_are_none_are_refused(model, text, term, problem):
    with pytest.raises(InputError, match=f"about: {problem}"):
        model(text).about("menu", term)


def test_other_models_are_refused(last_word):
    for text in ("", "a menu"):
        with pytest.raises(InputError, match=r'about: .*bad, so-so, good: use .*"sentiment"'):
            thinstack.load(last_word.path, threads=1)(text).about("menu")


def test_nothing_is_said_at_a_place_without_words(sentiment):
    (sentence,) = sentiment("A good  battery.").sentences
    assert about_place(sentence, 6, 8) is None
    assert about_place(sentence, 8, 15).text == "battery"
