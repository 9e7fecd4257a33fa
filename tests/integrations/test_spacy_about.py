"""`Span._.about`, and terms that a user names: what a Doc says of them."""

import pytest
from aspect_models import expected
from last_word_model import pipeline
from spacy_aspects import TEXT, TOLD, group, told, with_aspects

import thinstack
from thinstack.errors import InputError
from thinstack.integrations.spacy import TreeAspects


@pytest.fixture(scope="module")
def nlp(aspect_folder):
    """Both components."""
    return with_aspects(aspect_folder, pipeline("sentiment"))


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
