"""Docs of texts as people type them have the words of thinstack's own splitter."""

import pytest
import spacy
from spacy.tokens import Doc

from thinstack.integrations.spacy.splitter import sentences_of
from thinstack.text.english import LONGEST, EnglishSplitter

TYPED = [
    "I did'nt like it and would`nt go, it is´nt good.",
    "They DIDNT work, i dont know, it doesn;t and isn t nice.",
    "wont and cant stay, but doesnt' does not",
    "A terriﬁc ﬁlm, 𝗱𝗼𝗻'𝘁 miss ｔｈｉｓ！",
    "It dosn't work, i havn’t seen it, you mus'nt and mayn't; DOn't go",
    'a <b>good</b> film, <a href="x">so</a> to say',
    "don&#39;t say &quot;no&quot; to R&amp;B &lt;3",
    "cafe\u0301 go\u200bod \ufefffine, bad\xadly 5\ufe0f\u20e3 stars",
    'He said "terriﬁc" (well-made, and/or new) films, the \'80s & "so".',
]


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def words(doc: Doc) -> list[str]:
    (sentence,) = sentences_of(doc)
    return sentence.words


@pytest.mark.parametrize("text", TYPED)
def test_words_are_those_of_texts(nlp, text):
    (found,) = EnglishSplitter(sentences=False)([text])
    assert words(nlp(text)) == found[0].words


def test_words_know_their_tokens(nlp):
    doc = nlp("It did'nt work.<br />The <i>ﬁlm</i> don t")
    (sentence,) = sentences_of(doc)
    assert sentence.words == ["It", "did", "n't", "work", ".", "The", "film", "do", "n't"]
    shown = [doc[start:end].text for start, end in sentence.tokens.tolist()]
    assert shown[:3] == ["It", "did'nt", "did'nt"]
    assert ("ﬁlm" in shown[6], shown[7:]) == (True, ["don", "don t"])
    firsts = sentence.tokens[:, 0].tolist()
    assert firsts == sorted(firsts)


def test_a_doc_of_tags_has_no_sentence(nlp):
    assert sentences_of(nlp("<br><br />")) == []
    assert words(nlp("<br> x <user>")) == ["x", "<", "user", ">"]


def test_one_long_token_becomes_several_words(nlp):
    doc = Doc(nlp.vocab, ["x", "a_" * LONGEST, "y"], spaces=[True, True, False])
    (sentence,) = sentences_of(doc)
    assert sentence.words == ["x", *["a_" * (LONGEST // 2)] * 2, "y"]
    assert sentence.tokens.tolist() == [[0, 1], [1, 2], [1, 2], [2, 3]]
