"""Emoji, emoticons, hashtags and handles: one word each, looked up as plain English words."""

import json

import pytest

from thinstack.bundle import open_bundle
from thinstack.data.words.readings import TABLE, reading
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.text.english import EnglishSplitter

TABLE_DATA = json.loads(TABLE.read_text(encoding="utf-8"))
GOOD = "👍 😀 😂 😍 ❤️ 🎉 🙏 👏 😊 🔥 ⭐ 🥰 😃 😄 😁 🤣 😘 😎 💯 👌 🙌 💪 🤩 🥳 💕 💖 💙 🏆 ✨ 😋 🤗"
GOOD += " 😇 👍🏽 💜 🌟 🥹 🫡 ♡"
BAD = "👎 😡 😭 😢 🤮 😞 💩 🤬 😠 😔 😒 🙄 😤 😩 😫 💔 🤢 😣 😖 😕 🙁 ☹️ 🤦 🤦‍♀️ 🤡 🖕 🗑️ ❌ 😑 👎🏿"
BAD += " 🫠 🫩"
NEITHER = "📱 📦 🎬 🇺🇸 🎵 🚗 🏠 👀 🤔 👨‍👩‍👧 🍕 1️⃣ 📷 💰 🎮 ✈️"
GLAD = ":) :-) :)) =) ;) ;-) :D :-D =D :P <3 ^_^"
UNHAPPY = ":( :-( :(( =( :'( :/ :-/ </3 -_-"


READINGS = (
    "👍 great|👍🏽 great|👎👎 bad bad|so👍 so great|"
    "❤\ufe0f\u200d🔥 loved|👨\u200d👩\u200d👧 person|"
    "🇩🇪 flag|♡ loved|:-)) happy|</3 unhappy|-_- annoyed|#fail fail|@ada someone|★★★★★ excellent|"
    "★★★☆☆ average|⭐\ufe0f☆☆☆☆ horrible|f*cking fucking|$hit shit|b*tch bitch|bull**** bullshit|"
    "F**K fuck|f***ing fucking|f*****g fucking|a$$hole asshole|sh-t shit|b!tch bitch|"
    "sh1tty shitty|h*ll hell|d*mn damn|https://x.org/a?b=1 link|www.x.org link"
)
AS_TYPED = "🦷 : -- # #1 @ hat! rap* p@ss C* 2010 www. x.org me@x.org film é"


@pytest.mark.parametrize(
    "pair", READINGS.split("|") + [f"{word} {word}" for word in AS_TYPED.split()]
)
def test_readings(pair):
    word, expected = pair.split(" ", 1)
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
    stretched = [("Goooood", "good"), ("loooove", "love"), ("freeee", "free"), ("iii", "iii")]
    for word, plain in stretched:
        assert [pieces.entries[piece] for piece in pieces.pieces_of(word)] == [plain]
    words = WordVocabulary(["great", "🚀"])
    asked = ("👍", "👍👎", "#Great", "🚀", "👎", "GREAAAT", "greeat")
    assert [words.lookup(each) for each in asked] == [1, 1, 1, 2, 0, 1, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So #LoveThisPhone!", "So #Love This Phone !"),
        ("#BBCNews #COVID19 #Top10Movies", "#BBC News #COVID19 #Top 10 Movies"),
        ("#not_happy #fail #SoGood", "#not happy #fail #So Good"),
        ("x.org/#LoveThis C#IsGood &#LoveIt", r"x.org \/ #LoveThis C #IsGood & #LoveIt"),
        ("@ada_B 👍🏽👍", "@ada_B 👍🏽 👍"),
        ("★☆☆☆☆, so f*cking $hit bull****!", r"★☆☆☆☆ , so f\*cking $hit bull\*\*\*\* !"),
        ("★★★★★★ ★★★★", "★ ★ ★ ★ ★ ★ ★ ★ ★ ★"),
        ("$50 C* 4**2 A** M*A", r"$ 50 C \* 4 \*\* 2 A \*\* M \* A"),
        ("a hell-bent shit@x.org rap* hat!", r"a hell-bent shit@x.org rap \* hat !"),
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


def test_emoticons_are_known(sentiment):
    assert [sentiment(face).known for face in (":-(", ":/", ":'(")] == [1, 1, 1]


def test_stars_say_how_good_it_is(sentiment):
    stars = ["★☆☆☆☆", "★★☆☆☆", "★★★☆☆", "★★★★☆", "★★★★★"]
    for form in ("{}", "{} The parcel came today.", "The parcel came today {}"):
        found = [result.polarity for result in sentiment([form.format(each) for each in stars])]
        assert found == sorted(found)
        assert found[0] < -0.4
        assert found[-1] > 0.6


def test_hidden_words_say_what_they_hide(sentiment):
    hidden = ["f*cking amazing", "a b*tch to set up", "$hit quality", "what bull****"]
    plain = ["fucking amazing", "a bitch to set up", "shit quality", "what bullshit"]
    polarities = [result.polarity for result in sentiment(hidden)]
    assert polarities == pytest.approx([result.polarity for result in sentiment(plain)], abs=1e-6)


@pytest.mark.parametrize("form", ["{0}", "{0}{0}", "{0} {0}", "The parcel came today {0}"])
@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        *((GOOD, 0.1, 1), (GLAD, 0.1, 1), (BAD, -1, -0.1), (UNHAPPY, -1, -0.1)),
        (NEITHER, -0.35, 0.35),  # money leans to the good: 0.31
    ],
    ids=["good", "glad", "bad", "unhappy", "neither"],
)
def test_they_say_what_they_show(sentiment, form, words, low, high):
    found = [result.polarity for result in sentiment([form.format(word) for word in words.split()])]
    wrong = [each for each in zip(words.split(), found, strict=True) if not low < each[1] < high]
    assert wrong == []
