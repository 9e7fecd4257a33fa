"""The npm package finds and judges the terms that Python does."""

import random

import numpy as np
import pytest
from aspect_models import write_aspect_bundle
from js.package import SST, asked, loaded, needs_package, utf16
from js.test_npm_scores import assert_alike, some
from js.texts import KNOWN, MARKS, PARTS, own, typed

import thinstack
from thinstack.text.names import parts_of

pytestmark = needs_package

WORDS = ["battery", "Batteries", "the staff", "STAFF", "screen", "screens", "good", "awful", "is"]
ENDS = [" ", " ", " ", ", ", ". ", "! ", "\n\n", "-", "'s ", "😀 "]
TERMS = ["battery", "staff|waiter", "the  staff|screen", "is", "a", "😀x|I.", "sOme", "1", "é"]
TERMS += ["batteries", "knife", "good-battery", "goodbattery", "thestaff|staff's", "don’t"]
TERMS += ["#Staff"]


def of_products(count, seed):
    """Random texts of terms that the model knows, of other words, and of what rules look for."""
    rng = random.Random(seed)
    kinds = (WORDS, 8), (PARTS, 1), (MARKS, 1)
    lists, weights = zip(*kinds, strict=True)

    def text():
        words = rng.choices(lists, weights, k=rng.randrange(1, 30))
        return "".join(rng.choice(each) + rng.choice(ENDS) for each in words)

    return [text() for _ in range(count)]


def terms_of(text, rng):
    """Some terms to ask of a text: its words, two that stand side by side, and others."""
    words = text.split()
    found = rng.sample(TERMS, 2)
    if words:
        place = rng.randrange(len(words))
        found += [words[place], "|".join(rng.choices(words, k=2)), " ".join(words[place:][:2])]
        found += [rng.choice(words).swapcase()]
    return [term for term in found if all(map(_is_name, term.split("|")))]


def _is_name(word):
    return any(map(str.isalnum, "".join(parts_of(word))))


def told(aspect, places):
    """An aspect as the package tells it."""
    data = aspect.to_dict()
    for place in filter(None, (data, data["because"])):
        place["start"], place["end"] = places[place["start"]], places[place["end"]]
    return {**data, "probability": aspect.probability, "sentence": aspect.sentence.text}


def compare(bundle, texts, terms, options=None, *, finds):
    """Python's and the package's answers; gives how many aspects there were of each kind."""
    options = options or {}
    model = loaded(bundle, options)
    question = {"texts": texts, "terms": terms, "options": options, "finds": finds}
    counts = np.zeros(3, int)
    answers = asked("said", bundle=str(bundle), **question)
    for text, names, result, answer in zip(texts, terms, model(texts), answers, strict=True):
        places = utf16(text)
        about = result.about(*names)
        aspects = result.aspects if finds else ()
        assert_alike(answer["about"], [told(each, places) for each in about])
        assert_alike(answer["aspects"] or [], [told(each, places) for each in aspects])
        assert answer["sentences"] == [len(each.about(*names)) for each in result.sentences]
        counts += len(about), len(aspects), sum(each.because is not None for each in about)
    return counts.tolist()


@pytest.mark.parametrize(
    "options", [{}, {"classes": 2}, {"abstain": 0.75}, {"classes": 3, "maxWords": 5}], ids=str
)
def test_a_model_of_aspects(aspect_folder, options):
    texts, rng = [*of_products(600, seed=1), *some(60)], random.Random(2)
    terms = [terms_of(text, rng) for text in texts]
    counts = compare(aspect_folder, texts, terms, options, finds=True)
    assert min(counts) > 500


@pytest.mark.parametrize("options", [{}, {"classes": 3, "abstain": 0.6}], ids=str)
def test_a_model_of_sentiment(options):
    texts, rng = [*own()[:700], *some(150), *typed(800, seed=11)], random.Random(3)
    terms = [terms_of(text, rng) for text in texts]
    about, _, because = compare(SST, texts, terms, options, finds=False)
    assert about > because > 2000


def test_a_model_whose_terms_have_several_words(tmp_path):
    """Phrases are terms rather than their words, so that mentions are parts of terms."""
    phrase = np.array([-4, 0, 0, 0.5], np.float32)
    bundle = write_aspect_bundle(tmp_path / "aspects", phrase=phrase).path
    texts, rng = [*of_products(600, seed=5), *some(60)], random.Random(6)
    terms = [terms_of(text, rng) for text in texts]
    assert min(compare(bundle, texts, terms, finds=True)) > 500


def test_letters_of_all_scripts(aspect_folder):
    """In either case, and beside a term: whether a character ends a word."""
    rng = random.Random(4)
    cased = [chr(code) for code in KNOWN if chr(code).swapcase() != chr(code)]
    others = [chr(code) for code in rng.sample(KNOWN, 2000)]
    texts = [
        f"menu{char} {char}menu x{char.swapcase()}x x{char.lower()}x"
        for char in (*cased, *others, "\u0345", "\u0130", "\u0131")
    ]
    terms = [["menu", f"x{text[4]}x"] for text in texts]
    assert compare(aspect_folder, texts, terms, finds=True)[0] > 3 * len(cased)


def test_the_json_form(aspect_folder):
    text = "A good battery! The staff, though, is awful. And a screen. Nothing more"
    expected = thinstack.load(aspect_folder, threads=1)(text).to_dict()
    assert [len(each["aspects"]) for each in expected["sentences"]] == [1, 1, 1, 0]
    assert_alike(asked("data", bundle=str(aspect_folder), text=text), expected)
