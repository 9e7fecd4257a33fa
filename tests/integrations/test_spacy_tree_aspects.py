"""The component `tree_aspects`: what is said of what, on a Doc. Most answers can be computed by
hand."""

import json

import numpy as np
import pytest
import spacy
from aspect_models import expected
from last_word_model import pipeline
from sentence_models import write_sentence_bundle
from spacy import displacy
from spacy.lang.en import English
from spacy.tokens import Doc, Span
from spacy.training import Example
from test_retokenized import HANDED_ON

import thinstack
from thinstack.errors import ConfigError, DataError, InputError, UnknownNameError
from thinstack.integrations.spacy import TreeAspects, about, aspects, predictions

# A text with an aspect of each side by the model of `aspect_models`, and what a Doc tells of it.
TEXT = "A good battery! Awful staff is here. And a screen."
TOLD = [(2, 3, "battery", "positive"), (5, 6, "staff", "negative"), (11, 12, "screen", "neutral")]


def with_aspects(model, nlp=None, name="tree_aspects", **settings):
    """A pipeline, by default one with a sentencizer, and the component behind it."""
    if nlp is None:
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
    config = {"model": str(model), "threads": 1, **settings}
    nlp.add_pipe("tree_aspects", name=name, config=config)
    return nlp


def told(found):
    return [(each["start"], each["end"], each["text"], each["label"]) for each in found]


def group(doc, key="aspects"):
    return [(span.start, span.end, span.text, span.label_) for span in doc.spans[key]]


@pytest.fixture(scope="module")
def nlp(aspect_folder):
    """Both components."""
    return with_aspects(aspect_folder, pipeline("sentiment"))


def test_the_aspects_of_a_doc(nlp, aspect_folder):
    doc = nlp(TEXT)
    assert told(doc._.aspects) == TOLD
    expected_aspects = thinstack.load(aspect_folder, threads=1)(TEXT).aspects
    for mine, other in zip(doc._.aspects, expected_aspects, strict=True):
        data = other.to_dict()
        assert (mine["start_char"], mine["end_char"]) == (data.pop("start"), data.pop("end"))
        assert mine["scores"] == pytest.approx(expected(other.text)[1], abs=1e-6)
        because = data.pop("because")
        assert {key: mine[key] for key in data} == data
        assert (mine["because"] or {}).get("text") == (because or {}).get("text")
        for place in filter(None, (mine, mine["because"])):
            span = doc[place["start"] : place["end"]]
            assert span.text == place["text"]
            assert (span.start_char, span.end_char) == (place["start_char"], place["end_char"])
    because = [each["because"] and [*each["because"]] for each in doc._.aspects]
    assert because == [None, ["start", "end", "start_char", "end_char", "text"], None]
    data = json.loads(json.dumps(doc.to_json(underscore=["aspects"])))
    assert data["_"]["aspects"] == doc._.aspects


def test_it_leaves_what_the_other_component_says_as_it_is(nlp, aspect_folder):
    alone, behind = pipeline("sentiment")(TEXT), with_aspects(aspect_folder)
    behind.add_pipe("tree_sentiment", config={"threads": 1})
    for doc in (nlp(TEXT), behind(TEXT)):
        assert doc.cats == alone.cats
        assert doc._.sentiment_phrases == alone._.sentiment_phrases
        assert told(doc._.aspects) == TOLD
    # A phrase that is no term says how it sounds.
    assert doc[0:3]._.sentiment_label == "positive"
    # Without the other, the attributes read this one.
    only = with_aspects(aspect_folder)(TEXT)
    assert only.cats == {}
    scores = expected("battery")[1]
    assert only[2:3]._.sentiment_scores == pytest.approx(scores, abs=1e-6)
    # One of another name goes before this one, too.
    named = with_aspects(aspect_folder, spacy.blank("en"))
    named.add_pipe("tree_sentiment", name="other", config={"threads": 1}, first=True)
    named.add_pipe("sentencizer", first=True)
    assert named(TEXT)._.sentiment_label == alone._.sentiment_label


@pytest.mark.parametrize("way", [way for way in HANDED_ON if way != "JSON"])
def test_a_doc_keeps_its_aspects(nlp, way):
    doc = nlp(TEXT)
    kept = HANDED_ON[way](doc)
    assert kept._.aspects == doc._.aspects == aspects(kept) == aspects(kept, "tree_aspects")
    assert group(kept) == group(doc) == TOLD
    assert kept[4:6]._.about == doc[4:6]._.about == about(kept[4:6], "tree_aspects")
    texts = [each.text for one in predictions(kept, "tree_aspects") for each in one.aspects]
    assert texts == [text for _, _, text, _ in TOLD]


def test_a_span_has_the_terms_of_its_phrase(aspect_folder):
    """How probably each phrase is one, which the other component keeps of such a model too."""
    doc = pipeline(aspect_folder)(TEXT)
    (whole, *_), (phrase,) = predictions(doc), predictions(doc[0:2])
    result = thinstack.load(aspect_folder, threads=1)(TEXT)
    np.testing.assert_array_equal(whole.terms, result.sentences[0].terms)
    np.testing.assert_array_equal(phrase.terms, whole.terms[:3])
    (phrase,) = predictions(doc[2:3])
    assert [(each.text, each.start, each.end) for each in phrase.aspects] == [("battery", 7, 14)]


def test_a_saved_pipeline(aspect_folder, tmp_path):
    nlp = with_aspects(aspect_folder)
    with_aspects("sentiment", nlp, "named", about=["staff|screen"], spans_key="named")
    nlp.to_disk(tmp_path / "saved")
    from_bytes = English.from_config(nlp.config).from_bytes(nlp.to_bytes())
    for each in (nlp, spacy.load(tmp_path / "saved"), from_bytes):
        doc = each(TEXT)
        assert told(doc._.aspects) == group(doc) == TOLD
        assert told(aspects(doc, "named")) == group(doc, "named")
        assert [each["asked"] for each in aspects(doc, "named")] == ["staff|screen"] * 2
    assert thinstack.load(tmp_path / "saved" / "tree_aspects")(TEXT).aspects


def test_a_group_that_displacy_colours(nlp):
    doc = nlp(TEXT)
    assert group(doc) == TOLD
    scores = [max(expected(text)[1].values()) for _, _, text, _ in TOLD]
    assert doc.spans["aspects"].attrs["scores"].tolist() == pytest.approx(scores, abs=1e-6)
    drawn = displacy.render(doc, style="span", options={"spans_key": "aspects"}, jupyter=False)
    for colour in ("#b3d6f7", "#fbc999", "#ddd"):  # spaCy's own grey for the neutral one
        assert f"background: {colour}" in drawn
    # One without a label is told, and not shown.
    unsure = with_aspects(nlp.get_pipe("tree_aspects").model, classes=2, abstain=0.9)(TEXT)
    assert group(unsure) == TOLD[:2]
    assert told(unsure._.aspects) == [*TOLD[:2], (*TOLD[2][:3], None)]


def test_several_components(aspect_folder):
    nlp = with_aspects("sentiment", None, "one", about=["screen"])
    with_aspects(aspect_folder, nlp, "two", spans_key="two")
    doc = nlp(TEXT)
    assert [each["text"] for each in aspects(doc, "one")] == ["screen"]
    assert told(aspects(doc, "two")) == told(doc._.aspects) == group(doc, "two") == TOLD
    assert about(doc[5:6], "one")["label"] == "very negative"
    assert about(doc[5:6], "two") == doc[5:6]._.about
    with_aspects("sentiment", nlp, about=["staff"])
    assert [each["text"] for each in nlp(TEXT)._.aspects] == ["staff"]
    for ask in (lambda: aspects(doc, "three"), lambda: about(doc[0:1], "three")):
        with pytest.raises(UnknownNameError, match=r"'three'.*one, two"):
            ask()
    plain = pipeline("sentiment")(TEXT)
    assert (plain._.aspects, plain[0:1]._.about) == ([], None)
    with pytest.raises(InputError, match="does not find terms"):
        aspects(plain, "tree_sentiment")


@pytest.mark.parametrize("before", [None, "tree_sentiment"])
def test_models_that_say_nothing_of_terms_are_refused(before, last_word, tmp_path):
    nlp = spacy.blank("en")
    if before:  # whose model is noted in the pipeline
        nlp.add_pipe(before, config={"threads": 1})
    with pytest.raises(InputError, match="'sentiment' finds no terms: set about="):
        with_aspects("sentiment", nlp)
    with pytest.raises(InputError, match="has the classes bad, so-so, good: use the model"):
        with_aspects(str(last_word.path), nlp, about=["menu"])
    labels = ("negative", "neutral", "positive")
    roots = write_sentence_bundle(tmp_path / "roots", labels=labels).bundle
    with pytest.raises(InputError, match="scores only sentences: use the model 'aspects'"):
        with_aspects(str(roots.path), nlp, about=["menu"])
    with pytest.raises(InputError, match=r"expected a letter or digit.*found '\?'"):
        with_aspects("sentiment", nlp, about=["?"])
    assert "tree_aspects" not in nlp.pipe_names


@pytest.mark.parametrize(("kind", "name"), [(Doc, "aspects"), (Span, "about")])
def test_a_name_that_something_else_has_taken(kind, name, aspect_folder):
    kind.set_extension(name, default=None, force=True)
    try:
        with pytest.raises(ConfigError, match=f"tree_aspects needs .*{kind.__name__}._.{name}"):
            with_aspects(aspect_folder)
        assert pipeline("sentiment")("so good")._.sentiment_label  # which needs none of them
    finally:
        kind.remove_extension(name)
        with_aspects(aspect_folder)


def test_figures_of_nlp_evaluate(aspect_folder):
    nlp = with_aspects(aspect_folder, spans_key="terms")
    gold = {"spans": {"terms": [(2, 14, "positive"), (22, 27, "positive")]}}
    found = nlp.evaluate([Example.from_dict(nlp.make_doc(TEXT), gold)])
    assert (found["spans_terms_p"], found["spans_terms_r"]) == (0, 0)
    gold = {"spans": {"terms": [(7, 14, "positive"), (22, 27, "positive")]}}
    found = nlp.evaluate([Example.from_dict(nlp.make_doc(TEXT), gold)])
    assert (found["spans_terms_p"], found["spans_terms_r"]) == (pytest.approx(1 / 3), 0.5)


def test_results_as_plain_data(aspect_folder):
    doc = with_aspects(aspect_folder, about=["staff"])(TEXT)
    data = json.loads(json.dumps(doc._.tree_sentiment))
    again = spacy.blank("en")(TEXT)
    again._.tree_sentiment = data
    assert again._.aspects == doc._.aspects
    assert again[5:6]._.about == doc[5:6]._.about
    for wrong in ("staff", [3], ["?"], 3, {"staff": 1}):
        with pytest.raises(DataError, match="run tree_sentiment"):
            again._.tree_sentiment = {**data, "about": wrong}


# -- `Span._.about`, and terms that a user names


def test_what_is_said_of_entities(aspect_folder):
    nlp = with_aspects(aspect_folder)
    pattern = [{"LOWER": "awful"}, {"LOWER": "staff"}]
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PEOPLE", "pattern": pattern}])
    (entity,) = nlp(TEXT).ents
    found = entity._.about
    assert told([found]) == [(4, 6, "Awful staff", "negative")]
    assert found["scores"] == pytest.approx(expected("staff")[1], abs=1e-6)
    assert (found["because"]["text"], "asked" in found) == ("Awful", False)
    # Its own label says how the phrase sounds by itself.
    assert entity._.sentiment_scores == pytest.approx(expected("staff", 2)[1], abs=1e-6)


def test_spans_of_which_nothing_is_said(nlp):
    doc = nlp(f"  {TEXT}")
    shifted = [(start + 1, end + 1, *rest) for start, end, *rest in TOLD]
    assert [tuple(each) for each in told(doc._.aspects)] == shifted
    assert told([doc[0:4]._.about]) == [(1, 4, "A good battery", "positive")]
    assert doc[0:1]._.about is None  # white space
    assert nlp("A good  battery")[2:3]._.about is None  # within a sentence
    assert doc[2:7]._.about is None  # of two sentences
    unseen = nlp.make_doc(TEXT)
    assert (unseen._.aspects, unseen[0:2]._.about) == ([], None)
    assert (nlp("")._.aspects, nlp("")[0:0]._.about) == ([], None)


REVIEW = "The screen is gorgeous, but the battery life is awful. Prices were fine."


def test_terms_that_a_user_names_with_any_model_of_sentiment():
    terms = ["battery|battery life", "price"]
    doc = with_aspects("sentiment", about=terms)(REVIEW)
    result = thinstack.load("sentiment", threads=1)(REVIEW)
    wanted = [each.to_dict() for each in result.about(*terms)]
    assert [each["text"] for each in doc._.aspects] == ["battery life", "Prices"]
    assert [each["asked"] for each in doc._.aspects] == terms
    for mine, other in zip(doc._.aspects, wanted, strict=True):
        assert mine["scores"] == pytest.approx(other["scores"], abs=1e-5)
        assert (mine["label"], mine["start_char"]) == (other["label"], other["start"])
        assert mine["because"]["text"] == other["because"]["text"]
    assert group(doc) == told(doc._.aspects)
    (screen,) = result.about("screen")
    assert doc[1:2]._.about["label"] == screen.label == "very positive"
    # No terms at all: only spans are asked about.
    none = with_aspects("sentiment", about=[])(REVIEW)
    assert (none._.aspects, list(none.spans["aspects"])) == ([], [])
    assert none[1:2]._.about["label"] == "very positive"


def test_terms_that_a_user_names_take_the_place_of_found_ones(aspect_folder):
    doc = with_aspects(aspect_folder, about=["staff"])(TEXT)
    assert told(doc._.aspects) == group(doc) == TOLD[1:2]
    assert told([doc[2:3]._.about]) == TOLD[:1]


def test_tokens_that_are_merged(aspect_folder):
    nlp = with_aspects(aspect_folder)

    def merge(doc):
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[4:6])
        return doc

    after = merge(nlp(TEXT))
    before = nlp.get_pipe("tree_aspects")(merge(nlp.get_pipe("sentencizer")(nlp.make_doc(TEXT))))
    assert told(after._.aspects)[1] == (4, 5, "staff", "negative")
    assert told(after._.aspects)[2] == (10, 11, "screen", "neutral")
    for doc in (after, before):
        assert told([doc[4:5]._.about]) == [(4, 5, "Awful staff", "negative")]
    # The group shows no span that begins inside a token.
    assert group(after) == [TOLD[0], (10, 11, "screen", "neutral")]


def test_a_single_text_is_not_a_list_of_terms():
    with pytest.raises(InputError, match="expected a list of terms"):
        TreeAspects(model="sentiment", about="battery")
