"""The npm package cuts texts into the sentences, words and pieces that Python finds."""

import pytest
from js.package import JS, asked, described, needs_package
from js.texts import KNOWN, all_texts

from thinstack.bundle import open_bundle
from thinstack.text.english import EnglishSplitter

pytestmark = needs_package

ODD = ["unwatchably", "naïve", "İstanbul", "ΣΊΣΥΦΟΣ", "don't-care", "##ing", "[UNK]", "-LRB-"]
ODD += ["``", ":)", ":-RRB-", ":--RRB-", "<\\/3", "🤷\u200d♀\ufe0f", "#LoveThis", "@ada", "great👍"]
ODD += ["👎👎", "🇩🇪", "Goooood", "loooove", "https:\\/\\/x.org\\/a", "WWW.x.org", "x" * 100]
ODD += ["x" * 101, "𝒳" * 51, "𝒳" * 101, " \t", "", "-lſb-", "\\/\\*", "a\ud800b", "''"]


@pytest.fixture(scope="module")
def texts():
    found = all_texts()
    assert len(found) >= 20_000
    return found


@pytest.mark.parametrize("split", [True, False])
def test_sentences_and_words(texts, split):
    found = asked("split", texts=texts, split=split)
    expected = [described(text, split=split) for text in texts]
    assert [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]] == []


def test_a_lone_surrogate_is_a_character():
    texts = ["a\ud800b. \udfff c", "\udc00"]
    expected = [described(text, split=True) for text in texts]
    assert asked("split", texts=texts, split=True) == expected


def test_pieces(texts):
    cut = EnglishSplitter()(texts)
    words = {word for sentences in cut for sentence in sentences for word in sentence.words}
    every = {f"a{chr(code)}B" for code in KNOWN}
    asked_for = sorted({*words, *every, *ODD})
    bundle = open_bundle("sentiment")
    vocabulary = bundle.vocabulary()
    found = asked("pieces", vocabulary=str(bundle.path / "vocabulary.txt"), words=asked_for)
    expected = [list(vocabulary.pieces_of(word)) for word in asked_for]
    wrong = [each for each in zip(asked_for, found, expected, strict=True) if each[1] != each[2]]
    assert wrong == []


def test_ids_of_words():
    bundle = open_bundle(JS.parent / "tests" / "golden" / "schema-1" / "words")
    vocabulary = bundle.vocabulary()
    words = [
        *vocabulary.entries,
        *map(str.upper, vocabulary.entries),
        *ODD,
        "#The",
        "👍The",
        "ΟΔΟΣ",
        "-lrb-",
    ]
    found = asked("ids", vocabulary=str(bundle.path / "vocabulary.txt"), words=words)
    assert found == vocabulary.fields(words)["token_ids"].tolist()
    assert 0 < sum(map(bool, found)) < len(words)
