"""Texts to compare on: of the repository, of treebanks where they are given, and random ones."""

import json
import os
import random
import re
import unicodedata
from pathlib import Path

from thinstack.data.trees.treebank import read_trees
from thinstack.evaluate.suite import read_suite
from thinstack.text.raw_text import detokenize

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("THINSTACK_DATA", ROOT / "shared" / "data"))

PARTS = ["He", "it", "n't", "can", "not", "Dr", "No", "U.S", "etc", "1", "é", "日", "😀", "\u200d"]
PARTS += ["x@y", "http://", "www.", "-LRB-", "-lſb-", "\\/", "J.", "'90s", "`` ", "''", "e\u0301"]
PARTS += ["\u202e", "שלום", "\0", "👍🏽", "ΣΑΣ", "İ", "ﬁ", "n" * 300, "a-" * 70, "\u0345", "\ufeff"]
PARTS += ["<br>", "</p>", "<b>", "< br / >", "&amp;", "&#39;", "&lt;", "&#146;", "didn", "did'nt"]
PARTS += ["dont", "doesn;t", "DIDNT", "isn t", "was't", "ａ", "．", "𝗱𝗼𝗻'𝘁", "Ⓖ", "ᵍ", "ﬀ"]
PARTS += ["\u200b", "🇺🇸", "1\ufe0f\u20e3", "❤\ufe0f", "a_" * 600, "好" * 501, ".NET", "Yahoo!"]
PARTS += [" v. ", "\\'", "´s", " cant", "I wont", " be", "youre ", "thats", "Im", "didnâ€™t", "Ã©"]
PARTS += ["â\x80\x99", "\x92", "Ã¢â‚¬â„¢", "\\u2019", "\\ud83d\\ude02", "<U+2019>"]
PARTS += ["\\xe2\\x80\\x99", "%27", "‚Äô", "鈥檛", "ðŸ˜€", "&copy ", "&#34", "f*cking", "$hit"]
PARTS += [" b*tch", "bull****", "a**", "★★★★★", "★☆☆☆☆", "⭐⭐☆☆☆", "🥹", "sh-t", "&#x27t"]
PARTS += ["<a x=\"b > c\" y='>'>", "<!-- <b>-->", "<!--", "-->", "&amp;lt;br&#62;", "&#39t", "&lt "]
PARTS += ["<script>", "</script>", "<style a>", "<![CDATA[", "]]>", "<o:p>", "</a-b>", "<a-b c=d>"]
PARTS += ["<br", "<a href='x", "**", "__", "~~", "*so*", "_so_", "[a](http://b)", "](/c(d))", "***"]
PARTS += ["\n- ", "\n> ", "\n## ", "\n\u2022 ", "[b]", "[/b]", "[url=x]", "[/url]", "don ' t"]
PARTS += ["can'nt", "isn\ufffdt", "hasnˈt", "did 'nt", "is nt", "ought", " 't", "n.t", "👍", "👎👎"]
PARTS += ["👍🏽", "❤\ufe0f\u200d🔥", "🤷\u200d♀\ufe0f", "⭐\ufe0f", "🏴\U000e0067\U000e007f", "🦷"]
PARTS += [":)", ":-(", " <3", "</3", ":'(", "-_-", "^_^", ";P", ":/", "=D", "#LoveThis", "#BBCNews"]
PARTS += ["@ada", "#so_good", "#Top10Movies", "#x", "@", "#", "café", "любовь", "愛", "مرحبا"]
PARTS += ["gr👍at"]
MARKS = ".?!…,;:'’‘\"“”`´()[]{}<>-–—/*#@&$%=_^~+\\ \n\r\t\x1c\x85\xa0\u2028\u2029"


_CHANGED = {0x1171E}  # a mark that Unicode 15 put into another category


def known(code):
    """Whether a code point is a character to this Python; later versions of Unicode know more."""
    return unicodedata.category(chr(code)) not in ("Cn", "Cs") and code not in _CHANGED


KNOWN = [code for code in range(0x110000) if known(code)]
PLANES = [code for code in KNOWN if code < 0x3000 or 0x1F000 <= code < 0x20000 or code > 0xE0000]


def hostile(count, seed=1):
    """Random texts: of what rules look for, of letters of all scripts, and of both."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        pieces = []
        for _ in range(rng.randrange(1, 40)):
            kind = rng.random()
            if kind < 0.4:
                pieces.append(rng.choice(PARTS))
            elif kind < 0.7:
                pieces.append(rng.choice(MARKS))
            elif kind < 0.8:
                pieces.append(" ")
            else:
                pieces.append(chr(rng.choice(PLANES if kind < 0.95 else KNOWN)))
        found.append("".join(pieces))
    return found


PHRASES = ["The plot", "a great camera", "not bad at all", "I did n't like it", "it's", "Don’t go"]
PHRASES += ["das ist nicht gut", "très déçu", "muy bien", "とても良い", "очень хорошо", "جيد جدا"]
PHRASES += ["这个", "WORST flight ever", "sooo good", "5/5", "at 10:30 a.m.", "U.S. made"]
PHRASES += ["x@y.org", "ﬁlm"]
FRAMES = ["<p>{}</p>", "<b>{}</b>", "{}<br/>", '<a href="http://x.org/?a=1&b=2">{}</a>', "<li>{}"]
FRAMES += ["{}", "**{}**", "_{}_", "[{}](https://x.org/a)", "“{}”", "({})", "&quot;{}&quot;"]
FRAMES += ["{}&nbsp;", "<!-- {} -->", "<style>{}</style>", "<![CDATA[{}]]>", "~~{}~~", "`{}`"]
FRAMES += ["{} &amp; so", "#{}", "\n- {}", "\n> {}", "\n### {}\n", "[b]{}[/b]"]
SIGNS = ["👍", "👎👎", "❤️", "😂😂", "🤷🏽\u200d♀️", "🇩🇪", "👨\u200d👩\u200d👧", "⭐⭐⭐", "1️⃣", ":)"]
SIGNS += [":-(", "<3", "🦷", "★★★☆☆", "f***", "♡", "CANT", "itâ€™s", "I\\u2019m", "caf&eacute"]
SIGNS += ["#LoveThisPhone", "#fail", "#BBCNews2026", "#not_so_good", "@united", "@ada_b", "-_-"]
SIGNS += [";P"]
ENDS = [" ", " ", ". ", "! ", "?! ", ", ", "... ", "\n", "\n\n", ""]


def typed(count, seed=1):
    """Texts as people type or paste them: phrases in markup, emoji, hashtags, several scripts."""
    rng = random.Random(seed)
    parts = PHRASES, SIGNS

    def part():
        words = rng.choice(rng.choices(parts, (2, 1))[0])
        for _ in range(rng.choice((0, 0, 1, 2))):
            words = rng.choice(FRAMES).format(words)
        return words + rng.choice(ENDS)

    return ["".join(part() for _ in range(rng.randrange(1, 8))) for _ in range(count)]


def treebank(name):
    """The sentences of a file of the Stanford Sentiment Treebank; none where it is not given."""
    path = DATA / "sst" / name
    trees = read_trees(path, labelled=True) if path.is_file() else ()
    return [detokenize(tree.words) for tree in trees]


def own():
    """Texts that stand in the repository: suites of sentences, and lines of prose."""
    pages = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    lines = [line for page in pages for line in page.read_text("utf-8").splitlines()]
    suite = [case.text for case in read_suite("polarity")]
    return [*suite, *(line for line in lines if line)]


def plain():
    """Texts of treebanks that are given: of the web, captions, questions."""
    for path in sorted((DATA / "ud_ewt").glob("*.conllu")):
        content = path.read_text("utf-8")
        for paragraph in content.split("# newpar")[1:]:
            yield " ".join(re.findall(r"^# text = (.*)$", paragraph, re.M))
    for path in sorted((DATA / "snli").glob("dev.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            yield json.loads(line)["sentence1"]


def all_texts():
    """At least 10,000, and 10,000 as people type them."""
    found = [*treebank("train.txt"), *treebank("dev.txt"), *plain(), *own(), *hostile(3000)]
    found += typed(10_000)
    return [*found, *hostile(max(0, 20_000 - len(found)), seed=2)]
