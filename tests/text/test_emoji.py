"""Emoji, emoticons, hashtags and handles: one word each, looked up as plain English words."""

import json

import pytest

import thinstack
from thinstack.bundle import open_bundle
from thinstack.data.words.readings import TABLE, reading
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.text.english import EnglishSplitter

TABLE_DATA = json.loads(TABLE.read_text(encoding="utf-8"))
GOOD = "👍 😀 😂 😍 ❤️ 🎉 🙏 👏 😊 🔥 ⭐ 🥰 😃 😄 😁 🤣 😘 😎 💯 👌 🙌 💪 🤩 🥳 💕 💖 💙 🏆 ✨ 😋 🤗"
GOOD += " 😇 👍🏽 💜 🌟"
BAD = "👎 😡 😭 😢 🤮 😞 💩 🤬 😠 😔 😒 🙄 😤 😩 😫 💔 🤢 😣 😖 😕 🙁 ☹️ 🤦 🤦‍♀️ 🤡 🖕 🗑️ ❌ 😑 👎🏿"
NEITHER = "📱 📦 🎬 🇺🇸 🎵 🚗 🏠 👀 🤔 👨‍👩‍👧 🍕 1️⃣ 📷 💰 🎮 ✈️"
GLAD = ":) :-) :)) =) ;) ;-) :D :-D =D :P <3 ^_^"
UNHAPPY = ":( :-( :(( =( :'( :/ :-/ </3 -_-"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(
            ("👍", "great"),
            ("👍🏽", "great"),
            ("👎👎", "bad bad"),
            ("so👍", "so great"),
            ("🦷", "🦷"),
        ),
        *(("❤\ufe0f\u200d🔥", "loved"), ("👨\u200d👩\u200d👧", "person"), ("🇩🇪", "flag")),
        *((":-))", "happy"), ("</3", "unhappy"), ("-_-", "annoyed"), (":", ":"), ("--", "--")),
        *(("#fail", "fail"), ("#", "#"), ("#1", "#1"), ("@ada", "someone"), ("@", "@")),
        *(("me@x.org", "me@x.org"), ("film", "film"), ("é", "é")),
    ],
)
def test_readings(word, expected):
    assert reading(word).split() == expected.split()


def test_each_emoji_has_one_word_that_the_bundled_vocabulary_holds():
    listed = "".join(TABLE_DATA["emoji"].values())
    assert len(set(listed)) == len(listed)
    entries = set(open_bundle("sentiment").vocabulary().entries)
    assert {*TABLE_DATA["emoji"], *TABLE_DATA["emoticons"], "someone"} <= entries


def test_vocabularies_look_readings_up():
    pieces = open_bundle("sentiment").vocabulary()
    assert pieces.pieces_of("👎👎") == 2 * pieces.pieces_of("bad")
    assert pieces.pieces_of(":-RRB-") == pieces.pieces_of("happy")
    words = WordVocabulary(["great", "🚀"])
    assert [words.lookup(each) for each in ("👍", "👍👎", "#Great", "🚀", "👎")] == [1, 1, 1, 2, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So #LoveThisPhone!", "So #Love This Phone !"),
        ("#BBCNews #COVID19 #Top10Movies", "#BBC News #COVID19 #Top 10 Movies"),
        ("#not_happy #fail #SoGood", "#not happy #fail #So Good"),
        ("x.org/#LoveThis C#IsGood &#LoveIt", r"x.org \/ #LoveThis C #IsGood & #LoveIt"),
        ("@ada_B 👍🏽👍", "@ada_B 👍🏽 👍"),
    ],
)
def test_words(text, expected):
    (sentence,) = next(EnglishSplitter()([text]))
    assert sentence.words == expected.split()
    typed = [sentence.text[a:b] for a, b in sentence.offsets.tolist()]
    assert typed == [word.replace("\\", "") for word in expected.split()]


def test_an_emoji_belongs_to_the_sentence_before_it():
    (found,) = EnglishSplitter()(["It came today. 👍🏽 👍 The end."])
    assert [each.text for each in found] == ["It came today. 👍🏽 👍", "The end."]


@pytest.fixture(scope="module")
def sst():
    return thinstack.load("sentiment", threads=1)


@pytest.mark.parametrize("form", ["{0}", "{0}{0}", "{0} {0}", "The parcel came today {0}"])
@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        *((GOOD, 0.1, 1), (GLAD, 0.1, 1), (BAD, -1, -0.1), (UNHAPPY, -1, -0.1)),
        (NEITHER, -0.35, 0.35),  # money leans to the good: 0.31
    ],
    ids=["good", "glad", "bad", "unhappy", "neither"],
)
def test_they_say_what_they_show(sst, form, words, low, high):
    found = [result.polarity for result in sst([form.format(word) for word in words.split()])]
    wrong = [each for each in zip(words.split(), found, strict=True) if not low < each[1] < high]
    assert wrong == []
