"""Texts that a model does not know: which are told apart, and how one hears of it."""

import warnings
from pathlib import Path

import pytest
import spacy

from thinstack.bundle import open_bundle
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.errors import LanguageWarning
from thinstack.evaluate.suite import read_suite
from thinstack.text.english import EnglishSplitter
from thinstack.text.language import FEWEST, Language, is_word

ROWS = Path(__file__).with_name("languages.tsv").read_text(encoding="utf-8").splitlines()
GERMAN = "Die Lieferung kam viel zu spät und die Verpackung war beschädigt."


@pytest.fixture(scope="module")
def language():
    return Language(open_bundle("sentiment").vocabulary())


def words(text):
    (sentence,) = next(EnglishSplitter(sentences=False)([text]))
    return sentence.words


def doubted(language, texts):
    """The share of texts that are doubted."""
    return sum(language.doubt(words(text)) is not None for text in texts) / len(texts)


@pytest.mark.parametrize("name", ["german", "french", "spanish", "italian", "dutch", "japanese"])
def test_other_languages_are_told_apart(language, name):
    texts = [row.partition("\t")[2] for row in ROWS if row.startswith(name)]
    assert doubted(language, texts) > 0.9
    long = [words(text) for text in texts if len(words(text)) >= FEWEST]
    assert max([language.known(each) for each in long], default=0) <= 0.5


def test_english_is_not_doubted(language):
    """Posts with slips, names and slang are the hardest: 3 of 50."""
    posts = [row.partition("\t")[2] for row in ROWS if row.startswith("english")]
    texts = [case.text for case in read_suite("polarity")]
    assert len(texts) > 200
    assert doubted(language, texts) == 0
    assert doubted(language, [*posts, *texts[:150]]) < 0.02
    assert doubted(language, posts) < 0.08


@pytest.mark.parametrize(
    ("text", "share"),
    [
        *(("A fine film!", 1.0), ("A well-made 👍 :D", 1.0), ("A unwatchably film", 2 / 3)),
        *(("das der film", 1 / 3), ("日本語 x", 0.5), ("🦷 good", 0.5), ("!?", None)),
    ],
)
def test_the_share_of_known_words(language, text, share):
    assert language.known(words(text)) == share


def test_short_texts_are_doubted_if_they_cannot_be_read(language):
    assert language.doubt(["Sehr", "gut", "!"]) is None
    assert "'любовь'" in language.doubt(["любовь"])
    assert language.doubt(["🦷", "🦷", "ok"]) is not None
    assert language.doubt([]) is None


def test_a_vocabulary_of_another_language():
    language = Language(WordVocabulary(words(GERMAN)))
    assert language.known(words(GERMAN)) == 1
    assert language.doubt(words(GERMAN)) is None
    assert (
        language.doubt(words("The parcel came far too late and the box was damaged.")) is not None
    )


def test_a_word_is_no_mark():
    assert [*filter(is_word, ["a", "1", "'s", "👍", "--", "...", "、", "-LRB-", "™", ":D"])] == [
        *["a", "1", "'s", "👍", "™", ":D"]
    ]


# -- how one hears of it


TEXTS = ["A fine film.", GERMAN, "", GERMAN]


def test_a_call_warns_once(sentiment):
    for results in (sentiment, lambda texts: list(sentiment.stream(texts))):
        with pytest.warns(LanguageWarning, match="text 1: ") as seen:
            known = [result.known for result in results(TEXTS)]
        assert (len(seen), seen[0].filename) == (1, __file__)
        assert known[::2] == [1, None]
        assert known[1] == known[3] < 0.5


def test_it_can_be_refused(sentiment):
    with warnings.catch_warnings():
        warnings.simplefilter("error", LanguageWarning)
        stream, told = sentiment.stream(TEXTS), []
        assert next(stream).polarity > 0.4
        with pytest.raises(LanguageWarning, match="text 1: "):
            next(stream)
        results = sentiment(TEXTS, on_error=lambda place, error: told.append((place, type(error))))
    assert told == [(1, LanguageWarning), (3, LanguageWarning)]
    assert [bool(result.sentences) for result in results] == [True, False, False, False]


def test_a_spacy_component_warns_once():
    nlp = spacy.blank("de")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment")
    with pytest.warns(LanguageWarning, match="'Die', 'Lieferung', 'kam'") as seen:
        list(nlp.pipe(["A fine film.", GERMAN, GERMAN], batch_size=1))
    assert len(seen) == 1
