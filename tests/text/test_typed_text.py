"""Texts as people type them: what is read of them, and where it stands."""

import json
import re
import resource
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.text.english import LONGEST, RULES, EnglishSplitter, rules

DATA = json.loads(RULES.read_text(encoding="utf-8"))["typed"]


def read(text):
    (found,) = EnglishSplitter()([text])
    return found


def words(text):
    return [word for sentence in read(text) for word in sentence.words]


def typed_words(sentences):
    """Words as they stand in the text."""
    return [each.text[a:b] for each in sentences for a, b in each.offsets.tolist()]


VERBS = rules().expanded("<verbs>").split("|")
SLIPS = (
    "'nt|’nt|nt|nt'|n''t|n;t|n\"t|´nt|n`t|n´t|n‘t|'t|n t|n\\'t|n&#39;t|n&rsquo;t|n&#146;t|n&#39t|"
    "n'nt|n’nt|n 't|n’ t|n ' t|n,t|n.t|n?t|n\ufffdt|nˈt|n‵t|n❜t|ʼnt"
)


@pytest.mark.parametrize("slip", SLIPS.split("|"))
def test_a_misspelt_not_is_one(slip):
    for verb in VERBS:
        small = not verb.isupper() or "&" in slip or " t" in slip
        typed = slip if small else slip.upper()
        text = f"So it {verb}{typed} work."
        expected = ["So", "it", verb, "N'T" if "T" in typed else "n't", "work", "."]
        assert words(text) == expected
        (sentence,) = read(text)
        start, end = sentence.offsets[3].tolist()
        assert sentence.text[start:end] == typed, text


NEGATED = (
    "I {} recommend it|{0} WAIT|The battery {} charge|I {}|You {}.|this {} be right|people {} tell|"
    "{} you see?|I {} and will not|They said it {}, but|He {} even|kids {} like it|but {} hold|"
    "it still {}.|we {} 100% say|Honestly {} fault it|I just {}|they really {}.|people simply {}.|"
    "It definitely always {}."
)


@pytest.mark.parametrize("frame", NEGATED.split("|"))
@pytest.mark.parametrize("verb", ["cant", "wont", "CANT", "Wont"])
def test_cant_and_wont_are_negated_before_verbs_and_behind_subjects(frame, verb):
    straight = verb[:-1] + "'" + verb[-1]
    assert words(frame.format(verb)) == words(frame.format(straight))


REAL_WORDS = (
    "its parent event president student ident|in the plan t-shirt Don T. Smith|"
    "fluent absent resident did not|he said 'not' and 'tis|Vincent tent isn|don, did|is NT was NT|"
    "he did 'it' t-shirt|the dare n, t and ought|the nt edition|indoor paint|an ant's aunt"
)
NOUNS = (
    "as is his wont|as was her wont, he left|the cant of politicians|full of cant.|"
    "religious cant and hypocrisy|He is wont to lie|they were wont to go|a cant hook|"
    "his really cant|thieves' cant|all cant and no heart|more than is their wont|such cant words|"
    "Cant is a language|mere cant|I wont to go|their wont this morning|Its wont in|"
    "his usual wont every Sunday|the pious cant men speak|significant elephant wonton"
)


@pytest.mark.parametrize("text", [*REAL_WORDS.split("|"), *NOUNS.split("|")])
def test_what_is_no_negation_stays(text):
    assert not any("n't" in word for word in words(text))


CLITICS = """im ive youre youve youll youd hes shes itll itd weve theyre theyve theyll theyd thats
thatll theres heres wheres whats whatre whos wholl hows couldve wouldve shouldve mustve mightve"""


@pytest.mark.parametrize("typed", CLITICS.split())
def test_contractions_without_their_apostrophe(typed):
    """The treebank's words, as with the apostrophe; offsets cut the typed word in two."""
    end = next(each for each in ("re", "ve", "ll", "m", "s", "d") if typed.endswith(each))
    for form in (typed, typed.capitalize()):
        stem = form.removesuffix(end)
        text = f"{form} so good"
        (sentence,) = read(text)
        assert sentence.words == [stem, "'" + end, "so", "good"]
        assert typed_words([sentence]) == [stem, end, "so", "good"]


def escaped(text):
    return json.dumps(text)[1:-1]


def once(codec):
    return lambda text: "".join(
        byte.decode("latin-1" if byte in b"\x81\x8d\x8f\x90\x9d" else codec)
        for byte in (bytes([each]) for each in text.encode())
    )


MISREAD = {
    "cp1252": once("cp1252"),
    "latin-1": once("latin-1"),
    "twice": lambda text: once("cp1252")(once("cp1252")(text)),
    "entities": lambda text: once("cp1252")(text).encode("ascii", "xmlcharrefreplace").decode(),
    "JSON": escaped,
    "JSON in JSON": lambda text: escaped(escaped(text)),
    "repr of bytes": lambda text: repr(text.encode())[2:-1],
    "R": lambda text: re.sub("[^ -~]", lambda found: f"<U+{ord(found[0]):04X}>", text),
}
LETTERS = ["I didn’t enjoy the café’s naïve crème.", "“It isn’t good…” – Zoë 😀", "I can’t, It’s"]


@pytest.mark.parametrize("text", LETTERS)
@pytest.mark.parametrize("form", MISREAD)
def test_texts_that_went_through_a_wrong_decoding(text, form):
    change = MISREAD[form]
    (plain,), (misread,) = read(text), read(change(text))
    assert misread.words == plain.words
    assert typed_words([misread]) == [change(plain.text[a:b]) for a, b in plain.offsets.tolist()]


APOSTROPHES = ["\x92", "%27", "%92", "%E2%80%99", "=E2=80=99", "=92", "‚Äô", "ΓÇÖ", "ÔÇÖ", "вЂ™"]
APOSTROPHES += ["&rsquo", "&apos"]
APOSTROPHES += ["Õ", "¹", "Æ", "\\'", "\\\\'", "&#39", "&#x27", "&#8217", "\\x27", "%u2019", "â"]


@pytest.mark.parametrize("apostrophe", APOSTROPHES)
def test_apostrophes_that_went_through_a_wrong_decoding(apostrophe):
    text = f"It didn{apostrophe}t work and it{apostrophe}s bad"
    assert words(text) == ["It", "did", "n't", "work", "and", "it", "'s", "bad"]


NO_SLIPS = (
    "its were well ill id shed hell lets wed shell|im Haus|IM me|clothes these whose|"
    "time live course source hats shows|@im #ive x.im im@x.org|im. Adam|I'm you're|Imİ éim hesé|"
    "me@dont.com @isnt_x|"
    "“CAFÉ” É… CAFÉ’s Beyoncé’s café”—and|À\xa0! Ü” SÃO PAULO, IRMÃ|« É » El País’s|"
    "château mâts 50%27 5×¼ Ångström® C:\\new \\u12 \\xampp|x=27 \\ud83d <U+20> %u20"
)


@pytest.mark.parametrize("text", ["doesn't work", "don’t!", "isnt Great", "cant stand it", "Won't"])
def test_a_hashtag_is_negated_too(text):
    assert words("#" + text) == ["#" + words(text)[0], *words(text)[1:]]
    assert words("#IDontLikeIt") == ["#I", "Do", "n't", "Like", "It"]


@pytest.mark.parametrize("text", NO_SLIPS.split("|"))
def test_what_is_no_contraction_and_no_wrong_decoding_stays(text):
    assert rules().typed.plain(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("terriﬁc oﬀensive ﬂawed", "terrific offensive flawed"),
        ("ａｗｆｕｌ，ｂａｄ！", "awful , bad !"),
        ("𝐠𝐨𝐨𝐝 𝓫𝓪𝓭 𝗱𝗼𝗻'𝘁", "good bad do n't"),
        ("Ⓖⓡⓔⓐⓣ ᵍʳᵉᵃᵗ ①", "Great great 1"),
        ("cafe\u0301 go\u200bod ba\xadd \ufeffx\u2060", "café good bad x"),
        ("½ m² … ™ x", "½ m² ... ™ x"),
        ("5\ufe0f\u20e3 stars ⭐\ufe0f", "5 stars ⭐"),
        ("🇺🇸🇩🇪👨\u200d👩\u200d👧❤\ufe0f", "🇺🇸 🇩🇪 👨\u200d👩\u200d👧 ❤\ufe0f"),
    ],
)
def test_letters(text, expected):
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    "tag",
    [
        *["<br>", "<BR />", "</p>", "<li>", "< br / >", "&lt;br/&gt;", "<hr>", "<td nowrap x='>'>"],
        *["&amp;lt;br&amp;gt;", "&#60;p&#62;", "&#x3C;br /&#x3e;", '<p class="a > b">'],
    ],
)
def test_tags_of_blocks_end_sentences(tag):
    first, second = read(f"A bad film{tag}the music is good")
    assert (first.text, second.text) == ("A bad film", "the music is good")
    assert first.words + second.words == ["A", "bad", "film", "the", "music", "is", "good"]


TAGS = [
    "a <b>good</b> film",
    "a <a href='x?a=1&b=2'>good</a> <!-- so -->film",
    "a good<?php x ?> film",
    "a <i title='x > y' id=\"'>'\">good</i> film",
    "a <!-- b > c - <b>d</b> -- e --->good<!----> film",
    "a &amp;lt;a href=&amp;quot;x&amp;quot;&amp;gt;good&#60;/a&#62; film",
]
MARKUP = [
    "<style>p > a {color: red}</style>a good film<script src=x>if (a < b) bad()</SCRIPT >",
    "<![CDATA[a good film]]><![endif]-->",
    "a <o:p>good</o:p> <my-x rating='5'>film</my-x><svg:g/>",
    "a good film<br",
    "a good film</p",
    'a good film<a href="http://x.org/',
    "**a good** film",
    "a ***good*** __film__",
    "_a_ *good* ~~film~~ ",
    'a `good` [film](https://x.org/a_(b)?c=1 "title")',
    "[a **good** <b>film</b>](/x)",
    "[b]a[/b] [url=http://x.org]good[/url] [I]film[/I]",
    "## a\n\n> good\n- film",
    "> > a\n * good\n\u2022 film",
]


@pytest.mark.parametrize("text", TAGS + MARKUP)
def test_tags_and_markup_are_no_words(text):
    found = read(text)
    assert len(found) == 1 or text in MARKUP
    assert words(text) == ["a", "good", "film"]
    assert typed_words(found) == ["a", "good", "film"]


STANDS = [
    *["f** this s***", "2*3*4 a_b_c __init__.py", "* a * b *", "-_- so -_- ^_^ x_x", "5 stars* *"],
    *["[a](b) [c] (http://x.org)", "*.txt and *.py", "``so'' he`s", "~5 ~6", "_", "- a", "#1 of 3"],
    *["[b] [i]t is [u]x[/b]", "a > b\n-5\n--b", "\n\n- ", "if p<small", "<my-name> <a:b:c>"],
]
NO_TAGS = ["<3", "<-", "a < b", "x<y>z", "<url> <user>", "<a@b.c>", "a < b > c", "<b and c>"]


@pytest.mark.parametrize("text", STANDS + NO_TAGS)
def test_what_is_no_markup_and_no_tag_stands(text):
    assert "".join(typed_words(read(text))) == "".join(text.split())
    if text in NO_TAGS:
        assert "".join(words(text)).replace("-RRB-", ")") == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don&#39;t &quot;go&quot;", "do n't `` go ''"),
        ("R&amp;B &lt;3 a&nbsp;b &hellip; caf&eacute; &#x2019;", "R&B <3 a b ... café '"),
        ("don&#39t &lt 3&nbsp4 x&amp y &quot", "do n't < 3&nbsp4 x & y ``"),
        ("?a=1&lt=2 &copy 2 &#394; &ampx", "? a = 1&lt = 2 © 2 Ɗ & ampx"),
        ("don&#x27t caf&eacute 3&pound &#34&#8220so", "do n't café 3 £ `` `` so"),
        ("R&not B&AMP;B &amp;battery &rsquo x &#1 fan", "R&not B&B & battery ' x & # 1 fan"),
        ("&bogus; &#0; AT&T; &#xD800;", "& bogus ; & # 0 ; AT&T ; & #xD800 ;"),
    ],
)
def test_entities(text, expected):
    assert words(text) == expected.split()


ENDS = [
    "I love C# and .NET and Java.",
    "My .Net app and the .COM boom. | (.NET) is fine.",
    "They sell .ZIP files for $.50 each. | Good.",
    "See v. 2.0 now. | Roe v. Wade was decided. | Henry V. | He won.",
    "I got version 2.0. | Great film. | Rated 9. | The best.",
    "Look at Ask.Com now. | Vue.JS works.",
    "At 5 p.m. EST it ended. | At 5 a.m. | The train left.",
    "I liked it :) | It was fun. | I ❤ New York. | Loved it 😍 | The end.",
    "It is here ./I am not. | GOOD ./THE BEST.",
]


@pytest.mark.parametrize("text", ENDS)
def test_ends_near_digits_and_capitals(text):
    expected = [part.strip() for part in re.split(r"[|/]", text)]
    assert [each.text for each in read(text.replace("| ", "").replace("/", ""))] == expected


@pytest.mark.parametrize("unit", ["http://a.b/", "x=y&", "!", "好", "a/b-c'"])
def test_long_words_are_cut_and_nothing_is_lost(unit):
    text = unit * (3 * LONGEST)
    places = [pair for s in read(text) for pair in (s.offsets + s.start).tolist()]
    assert max(b - a for a, b in places) <= LONGEST
    assert places[0][0] == 0
    assert all(a[1] == b[0] for a, b in pairwise(places))
    assert places[-1][1] == len(text)


MEMORY = """
import resource, thinstack
predictor = thinstack.load("sentiment", threads=1)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
predictor(["A good film."])
before = peak()
predictor([UNIT * (300_000 // len(UNIT))])
print((peak() - before) * 1024 // 300_000)
"""


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_SELF"), reason="needs getrusage")
@pytest.mark.parametrize("unit", ["http://a.b/", "1.", "?", "x_"])
def test_memory_of_long_words(unit):
    """Bytes a character. They were 1,900."""
    run = [sys.executable, "-c", MEMORY.replace("UNIT", repr(unit))]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500


PARTS = "I can|wo|The sha| be|n'nt| '|' |n.t|nT|NT|differe|n t|,|?|;| |.|a"
TYPED = st.lists(st.sampled_from(VERBS + SLIPS.split("|")[:5] + PARTS.split("|")))
NEGATION = re.compile(rules().expanded(DATA["negation"]))


@given(TYPED.map("".join))
def test_the_quick_search_finds_what_the_rule_does(text):
    plain = rules().typed.plain(text)
    found = [*NEGATION.finditer(text)]
    assert (plain is None) == (not found)
    for each in found:
        typed = each.span(each.lastindex or 0)
        made = "".join(
            char
            for char, *place in zip(plain.text, plain.starts, plain.ends, strict=True)
            if tuple(place) == typed
        )
        assert made.lower() == "n't"


def test_the_words_of_clitics_are_those_that_their_pattern_accepts():
    """Python looks at the pattern only for these words, and JavaScript at every word."""
    starts = "i you they we he she it who what where there here that this how why when could would"
    starts += " should must might can will shall may not"
    ends = ("m", "re", "ve", "ll", "d", "s", "t")
    words = [start + end for start in starts.split() for end in ends]
    matches = {word: rules().compiled[DATA["clitic"]].match(f"{word} x") for word in words}
    accepted = {word for word, match in matches.items() if match and match.end() == len(word)}
    assert accepted == {*DATA["clitics"]}
