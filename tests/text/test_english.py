"""Sentences and treebank words of raw English text, and of tokens of spaCy."""

import json
import re
import sys
from time import process_time

import numpy as np
import pytest
import spacy
from covering import check_covered
from hypothesis import example, given
from hypothesis import strategies as st

from thinstack.data.trees.treebank import read_trees
from thinstack.data.words import ptb
from thinstack.text.english import RULES, EnglishSplitter, rules
from thinstack.text.raw_text import detokenize, treebank_words

DATA = json.loads(RULES.read_text(encoding="utf-8"))


def sentences(text):
    (found,) = EnglishSplitter()([text])
    return found


def words(text):
    """Of a text that is one sentence."""
    (found,) = EnglishSplitter(sentences=False)([text])
    return found[0].words


WORDS = [
    ("A well-made, state-of-the-art film.", "A well-made , state-of-the-art film ."),
    ("writer/director and/or co-writer/star", r"writer\/director and\/or co-writer\/star"),
    ("It isn't, we’ll SEE, DON'T", "It is n't , we 'll SEE , DO N'T"),
    ("I'd've, the U.S.'s, (this)'s", "I 'd 've , the U.S. 's , -LRB- this -RRB- 's"),
    ("I cannot; Cannot? cannots", "I can not ; Can not ? cannots"),
    ("gonna rock'n'roll, O'Brien's coup d'état", "gonna rock'n'roll , O'Brien 's coup d'état"),
    ("The '60s, ’70s, 'til 'em, rock 'n' roll", "The '60s , '70s , 'til 'em , rock 'n' roll"),
    ("'Alabama' manages the characters' lives", "` Alabama ' manages the characters ' lives"),
    ('He said "no" ("never").', "He said `` no '' -LRB- `` never '' -RRB- ."),
    ('"5" x 5" " x " y', "`` 5 '' x 5 '' `` x '' y"),
    ("“‘b’ c” «d» ``e'' „f”", "`` ` b ' c '' `` d '' `` e '' `` f ''"),
    ("word—word x--y a – b ---- c", "word -- word x -- y a -- b -- c"),
    ("so...... so… no . . . yes", "so ... so ... no ... yes"),
    ("[x] {y} (z) a *** b*", r"-LSB- x -RSB- -LCB- y -RCB- -LRB- z -RRB- a \*\*\* b \*"),
    ("$3.50, US$5, £5, 5%, -5, .5", "$ 3.50 , US$ 5 , £ 5 , 5 % , -5 , .5"),
    ("1,000.5 at 10:30 on 9/11", r"1,000.5 at 10:30 on 9\/11"),
    ("AT&T's R&B & me", "AT&T 's R&B & me"),
    ("See https://a.b/c?d=e, www.x.org.", r"See https:\/\/a.b\/c?d=e , www.x.org ."),
    ("me@x.org, @you #tag #1 foo.com", "me@x.org , @you #tag # 1 foo.com"),
    ("good :) or :-( and <3", "good :-RRB- or :--LRB- and <3"),
    (
        "e.g. U.S. a.m. Ph.D. J.R.R. X, etc., et al.",
        "e.g. U.S. a.m. Ph.D. J.R.R. X , etc. , et al.",
    ),
    ("It is b.s. Mr. X", "It is b.s. Mr. X"),
    ("naïve æon Привет 日本語 x", "naïve æon Привет 日本語 x"),
    ("n" * 600, "n" * 600),
]
SENTENCES = [
    "Dr. Smith and Mrs. Jones left. | It was late.",
    "J. R. R. Tolkien met C.S. Lewis at 5 p.m. sharp.",
    "In the U.S. Army he rose. | He left the U.S. | He came back.",
    "It ends at 5 p.m. | Then we go, e.g. home, vs. them, i.e. us.",
    "No. 5 is best. | I said no. | He paid $3.50 on Sept. 3. | Nothing.",
    "Apples, pears, etc. are fruit. | Apples, pears, etc. | They are.",
    "He left. | \"She came.\" | 'Why?' | (He knew.) | “So.”\t| [Yes.] | Fine.",
    '"Really?" he asked. | "No!" said she. | He said "no." and left.',
    "Well... it is. | It ... well, is. | It ... | Is it? | Wait… so? | ... a film. | ... The end.",
    "What?! | No!! | So: yes; no. | ok. | lower case.",
    "Version 3.11 of foo.com is at http://x.y/z.html. | See me@x.org. | Bye.",
    "1. Buy milk. | 2. Eat.",
    "It ended. | It began.| It went on?| Yes.",
    "one\ntwo | \n\n | three\r\nfour | \r\n \r\n | five | \u2029 | six",
]


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_words(text, expected):
    assert words(text) == expected.split()


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences(text):
    expected = [part.strip() for part in text.split("|") if part.strip()]
    assert [
        found.text for found in sentences(text.replace(" | ", " ").replace("|", ""))
    ] == expected


def test_quotes_that_stay_open_end_with_their_sentence():
    assert sentences('He said "so. And " then " x')[1].words == ["And", "``", "then", "''", "x"]


def test_words_have_their_places():
    first, second = sentences("  It isn't\n  “so—bad” (Dr. No)! Good")
    assert (first.text, second.text) == ("It isn't\n  “so—bad” (Dr. No)!", "Good")
    shown = [first.text[start:end] for start, end in first.offsets.tolist()]
    assert shown == ["It", "is", "n't", "“", "so", "—", "bad", "”", "(", "Dr.", "No", ")", "!"]
    spelt = ["It", "is", "n't", "``", "so", "--", "bad", "''", "-LRB-", "Dr.", "No", "-RRB-", "!"]
    assert first.words == spelt
    assert (second.offsets.tolist(), second.offsets.dtype) == ([[0, 4]], "int64")


@pytest.mark.parametrize("count", [1, 63, 64, 65, 300])
def test_plain_words_are_read_however_many_follow_each_other(count):
    (found,) = sentences(" ".join(["so"] * count) + ", we,they cannot.")
    assert found.words == ["so"] * count + [",", "we", ",", "they", "can", "not", "."]
    starts = [*range(0, 3 * count, 3), *(3 * count + each for each in (-1, 1, 3, 4, 9, 12, 15))]
    sizes = map(len, found.words)
    expected = [[start, start + size] for start, size in zip(starts, sizes, strict=True)]
    assert found.offsets.tolist() == expected


PARTS = ["He", "it", "n't", "can", "not", "Dr", "No", "U.S", "etc", "1", "é", "日", "😀", "\u200d"]
PARTS += ["x@y", "http://", "\u0301", "<br>", "&amp;", "ﬁ"]
MARKS = ".?!…,;:'’‘\"“”`´()[]{}<>-–—/*#@&$%=_^~+\\ \n\r\t\x1c\x85\xa0\u2028\u2029"
ENGLISH = st.lists(st.sampled_from([*PARTS, *MARKS]), max_size=30).map("".join)


@pytest.mark.parametrize("split", [True, False])
@given(text=st.one_of(ENGLISH, st.text()))
@example(text="don't\u0301")  # no letter is a t with that accent
@example(text="an't\u20dd e\u0301")
def test_words_cover_any_text(text, split):
    (found,) = EnglishSplitter(sentences=split)([text])
    check_covered(text, found, split=split)


@pytest.mark.parametrize("text", ["", " \n\t\r\n \u2029\xa0\x1c"])
def test_without_words_there_is_no_sentence(text):
    assert sentences(text) == []


UNITS = (
    ".|\"|'|a.|a.a|1|1,| |a|n|na|n't|a-|a'|(|.)|! |. . |.:(|:((|-_|--|- |\n|\n |\r|www.|http://|@|a@"
    "|Mr. |<a x=|</|<br |&lt;a =|&amp;|<!a|&#|dont |don;t |'t|a`|ﬁ|\\'|e\u0301|<b>|<|.NET |:) |🇺🇸"
    "|No. |…|é|😀\u200d|cannot|etc. -|A. |. --|*a|_a|`a"
    "|**|[a|[a](/|[b]|\n- |\n>|<script a>|<style|<a-|<![|]]>|😀|#a"
)
HOSTILE = UNITS.split("|")


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_is_read_in_linear_time(unit):
    """Four times the text takes some four times the CPU time, not sixteen."""

    def seconds(length):
        text = f"b. {unit * (length // len(unit))}< b"
        start = process_time()
        assert sentences(text)[-1].text.endswith("b")
        return process_time() - start

    assert any(seconds(40_000) < 10 * max(seconds(10_000), 0.005) for _ in range(3))


def test_the_rules_agree_with_the_rest_of_the_package():
    marks = "()[]{}/*"
    escaped = {mark: ptb.escape(mark) for mark in marks}
    assert {mark: DATA["spelled"][mark] for mark in marks} == escaped
    space = re.compile(rules().expanded("[<space>]"))
    characters = map(chr, range(sys.maxunicode + 1))
    assert [char for char in characters if char.isspace() != bool(space.match(char))] == []


def share_read_back(sentences, joined):
    """The share of sentences that come back word for word out of texts of so many sentences."""
    texts = [detokenize(words) for words in sentences]
    found = EnglishSplitter()(" ".join(texts[i : i + joined]) for i in range(0, len(texts), joined))
    same = 0
    for i, read in zip(range(0, len(sentences), joined), found, strict=True):
        known = [sentence.words for sentence in read]
        same += sum(words in known for words in sentences[i : i + joined])
    return same / len(sentences)


@pytest.mark.parametrize(("joined", "least"), [(1, 0.99), (5, 0.95)])
def test_treebank_sentences_survive_the_way_through_raw_text(data_dir, joined, least):
    trees = read_trees(data_dir / "sst" / "dev.txt")
    assert share_read_back([list(tree.words) for tree in trees], joined) >= least


# -- tokens of spaCy to treebank words, and words to raw text


@pytest.fixture(scope="module")
def tokenizer():
    return spacy.blank("en").tokenizer


def words_of(tokenizer, text):
    doc = tokenizer(text)
    return treebank_words(
        [token.text for token in doc], [bool(token.whitespace_) for token in doc]
    )[0]


def test_what_follows_decides_about_full_stops_and_quotes():
    assert treebank_words(["b.s", ".", "it"], [False, True, False])[0] == ["b.s.", "it"]
    assert treebank_words(["b.s", "."], [False, False])[0] == ["b.s", "."]
    assert treebank_words(["'", "it"], [False, False])[0] == ["`", "it"]
    assert treebank_words(["'", "\n", "it"], [False, False, False])[0] == ["'", "it"]


def test_owners_name_the_tokens_of_each_word():
    tokens = ["  ", "well", "-", "made", ",", "\n", "n’t", "(", "'", "60s"]
    spaces = [False, False, False, False, True, False, True, False, False, False]
    words, owners = treebank_words(tokens, spaces)
    assert words == ["well-made", ",", "n't", "-LRB-", "'60s"]
    assert owners.tolist() == [[1, 4], [4, 5], [6, 7], [7, 8], [8, 10]]
    words, owners = treebank_words(["\n"], [False])
    assert (words, owners.shape, owners.dtype) == ([], (0, 2), np.int64)


TOKENS = st.text(alphabet="ab1.-/*'\"()’“” \n", max_size=4)


@given(st.lists(st.tuples(TOKENS, st.booleans()), max_size=12))
def test_every_token_but_white_space_belongs_to_one_word_in_order(pairs):
    tokens, spaces = [token for token, _ in pairs], [space for _, space in pairs]
    words, owners = treebank_words(tokens, spaces)
    covered = [i for first, end in owners.tolist() for i in range(first, end)]
    assert covered == [i for i, token in enumerate(tokens) if token.strip()]
    assert len(words) == len(owners)
    assert all(words)
    assert not set("".join(words)) & set("()")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("It 's `` good '' -LRB- very -RRB- , is n't it ?", "It's \"good\" (very), isn't it?"),
        (r"and\/or can not -- the ` Ring ' ... no", "and/or cannot -- the 'Ring'... no"),
        ("... a $ 9 film in the U.S. .", "... a $9 film in the U.S."),
        ("the characters ' lives : 10 % -LSB- sic -RSB-", "the characters' lives: 10% [sic]"),
        ("`` No ! '' . ...", '"No!"....'),
        ("Ca n't", "Can't"),
        ("", ""),
    ],
)
def test_detokenize(words, text):
    assert detokenize(words.split()) == text


def test_most_treebank_sentences_survive_the_way_through_raw_text(tokenizer, data_dir):
    sentences = [list(tree.words) for tree in read_trees(data_dir / "sst" / "train.txt")[:1000]]
    same = sum(words_of(tokenizer, detokenize(words)) == words for words in sentences)
    assert same >= 0.98 * len(sentences)
