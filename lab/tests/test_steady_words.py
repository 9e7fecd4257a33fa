"""What `benchmarks/steady_words.py` measures with is in no list that teaches words alone, and its
figures are shares of what was changed."""

import importlib.util
import json
from collections import Counter
from pathlib import Path

LAB = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("steady", LAB / "benchmarks" / "steady_words.py")
STEADY = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(STEADY)

ENDINGS = (("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"), ("ed", ""), ("d", ""))


def grammar():
    """The lists and the families of all files of templates."""
    lists, families = {}, {}
    for path in (LAB / "recipes" / "grammar").glob("composed-*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        lists |= content.get("lists", {})
        families |= content.get("families", {})
    return lists, families


def words_of(content):
    if isinstance(content, str):
        return {content.lower()}
    parts = content.values() if isinstance(content, dict) else content
    return set().union(*map(words_of, parts))


def test_no_word_that_measures_is_taught_alone():
    lists, families = grammar()
    measured = (LAB / "probes" / "neutral_words.txt").read_text(encoding="utf-8").split()
    assert len({*measured}) == len(measured) == 500
    frames = families["words_alone"]["frames"] + families["words_alone"]["held_out"]
    alone = [frame[1:-1] for frame in frames if frame[1:-1] in lists]
    assert {"neutral_noun", "neutral_verb", "adj", "place"} <= {*alone}
    taught = set().union(*(words_of(lists[name]) for name in alone))
    plain = {
        word[: -len(old)] + new
        for word in taught
        for old, new in ENDINGS
        if word.endswith(old) and lists["neutral_noun"].count(word[: -len(old)] + new)
    }
    assert not {*measured} & (taught | plain)


def test_no_value_that_measures_is_exchanged_in_training():
    lists, _ = grammar()
    pairs = {"name": ("first_name", "person_name", "surname"), "place": ("place",)}
    pairs |= {"number": ("number",), "handle": ("handle",), "tag": ("tag",), "kind": ("what",)}
    for name, taught in pairs.items():
        known = set().union(*(words_of(lists[one]) for one in taught))
        assert not {value.lower() for value in STEADY.values()[name]} & known, name


def test_figures_are_shares():
    """A model that reads all texts with a digit, a `#` or "the" as good."""

    def score(texts):
        marks = ("#", "the ", *"0123456789")
        return [
            ("positive", 0.9) if any(mark in text for mark in marks) else ("neutral", 0.0)
            for text in texts
        ]

    found = STEADY.measure(score, ["A dull film.", "A plot without a twist ."])
    assert found["shares"]["neutral words"] == 0
    assert found["shares"]["neutral words after 'the'"] == 1
    assert found["shares"]["tags"] == 1
    assert found["shares"]["one typing error"] == 0
    assert found["shares"]["neutral questions"] == (20 + 5 * 2) / 120
    assert (
        found["everyday"]["of"]
        == 60
        == found["everyday"]["right"] + len(found["everyday"]["wrong"])
    )


def test_everyday_sentences_are_as_many_of_each_side():
    assert Counter(side for side, _ in STEADY.everyday()) == dict.fromkeys(
        ("negative", "neutral", "positive"), 20
    )
