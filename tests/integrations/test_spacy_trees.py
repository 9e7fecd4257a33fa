"""From Docs to words and trees; parses are stored strings, as benepar sets them."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from thinstack.core import Tree
from thinstack.data.trees.brackets import to_brackets
from thinstack.errors import InputError
from thinstack.integrations.spacy.splitter import sentences_of, tokens_at
from thinstack.integrations.spacy.trees import (
    constituency_tree,
    constituency_trees,
    dependency_tree,
    dependency_trees,
    parses_of,
)
from thinstack.text.english import LONGEST, EnglishSplitter


@pytest.fixture
def parsed():
    """Makes a Doc, its sentences having these parses by their position."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    parses = []

    def parse_string(span):
        found = parses[[sent.start for sent in span.doc.sents].index(span.start)]
        if isinstance(found, Exception):
            raise found
        return found

    def make(text, *found):
        parses[:] = found
        return nlp(text)

    Span.set_extension("parse_string", getter=parse_string)
    yield make
    Span.remove_extension("parse_string")


def tree(doc, number=0):
    """The tree that is made of a sentence's parse, in brackets without labels."""
    sentences = sentences_of(doc)
    steps = parses_of(doc, sentences)[number]
    found = Tree.from_transitions(steps, sentences[number].words, ["x"] * len(steps))
    return to_brackets(found).replace("(x ", "(")


DOG = "(S (NP (DT The) (JJ old) (NN dog)) (VP (VBZ barks)) (. .))"
IT = "(S (NP (PRP It)) (VP (VBZ sleeps)))"
QUOTED = "(S (D A) (P (-LRB- -LRB-) (N b) (-RRB- -RRB-)) (Q (`` {}) (N c) ('' \")))"
WELL_MADE = {
    "(NP (DT a) (ADJP (RB well) (HYPH -) (VBN made)) (NN film))": "((a) ((well-made) (film)))",
    "(X (NP (DT a) (RB well)) (Y (HYPH -) (Z (VBN made) (NN film))))": "(((a) (well-made)) (film))",
}


@pytest.mark.parametrize(
    ("text", "parse", "expected"),
    [
        (
            "  a \n b  c",  # tokens of white space are left out
            "(S (X (_SP   )) (A a) (_SP \n ) (VP (B b) (_SP  ) (C c)))",
            "((a) ((b) (c)))",
        ),
        *(  # brackets and quotes are known in any spelling
            ('A (b) "c"', QUOTED.format(quote), "((A) (((-LRB-) ((b) (-RRB-))) ((``) ((c) ('')))))")
            for quote in ('"', "``")
        ),
        # a word of several tokens stands where the first does
        *(("a well-made film", parse, expected) for parse, expected in WELL_MADE.items()),
    ],
)
def test_words_stand_where_their_tokens_do(parsed, text, parse, expected):
    assert tree(parsed(text, parse)) == expected


def test_a_token_of_several_words_becomes_a_phrase(parsed):
    doc = parsed("In New York City now", "(S (PP (IN In) (NP (NNP NewYorkCity))) (RB now))")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:4])
    assert tree(doc) == "(((In) ((New) ((York) (City)))) (now))"


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        ("(S (A a) (B b))", "at 2 expected 'c', found None"),
        ("(S (A a) (X x) (C c))", "at 1 expected 'b', found 'x'"),
        ("(S (A a) (B b) (C c)", "unbalanced"),
        ("", "contains no tree"),
        (None, "is None"),
        (RuntimeError("no parse here"), "no parse here"),
    ],
)
def test_a_parse_that_does_not_fit_is_refused(parsed, parse, message):
    with pytest.raises(InputError, match=message) as caught:
        tree(parsed("a b c", parse))
    assert "'a b c'" in str(caught.value)


def test_without_any_parses_the_message_names_benepar():
    doc = spacy.blank("en")("a b c")
    with pytest.raises(InputError, match=r'pip install benepar.*nlp\.add_pipe\("benepar"'):
        tree(doc)


VOCAB = spacy.blank("en").vocab


def parsed_doc(*tokens):
    """A Doc of tokens given as `word/head/dep`, heads counted from 0."""
    words, heads, deps = zip(*(token.rsplit("/", 2) for token in tokens), strict=True)
    return Doc(VOCAB, words=words, heads=[int(head) for head in heads], deps=deps)


@st.composite
def heads_and_spaces(draw):
    """Heads of tokens, the root its own, and which of them are white space; at least one is not."""
    place = draw(st.permutations(range(draw(st.integers(1, 8)))))
    heads = list(range(len(place)))
    for rank, token in enumerate(place[1:], start=1):
        heads[token] = place[draw(st.integers(0, rank - 1))]
    spaces = [draw(st.booleans()) for _ in place]
    spaces[place[0]] = False
    return heads, spaces


@given(heads_and_spaces())
def test_dependency_trees_of_words(drawn):
    heads, spaces = drawn
    texts = [" \n"[i % 2] if space else f"w{i}" for i, space in enumerate(spaces)]
    doc = Doc(VOCAB, words=texts, heads=heads, deps=[f"d{i}" for i in range(len(heads))])
    found = dependency_tree(doc)
    words = [i for i, space in enumerate(spaces) if not space]

    def above(token):
        head = heads[token]
        return above(head) if spaces[head] else head

    assert found.words == found.tokens == tuple(texts[i] for i in words)
    assert found.labels == tuple(f"d{i}" for i in words)
    assert found.parents.tolist() == [-1 if heads[i] == i else words.index(above(i)) for i in words]
    assert dependency_tree(doc[:]) == found
    assert dependency_tree(doc.copy()[0 : len(doc)]) == found


def test_one_dependency_tree_a_sentence():
    doc = parsed_doc(
        "It/1/nsubj", "sleeps/1/ROOT", "\n/1/dep", "Dogs/4/nsubj", "bark/4/ROOT", " /5/ROOT"
    )
    assert [span.text for span in doc.sents] == ["It sleeps \n", "Dogs bark", " "]
    first = Tree.from_parents([1, -1], ["It", "sleeps"], ["nsubj", "ROOT"])
    second = Tree.from_parents([1, -1], ["Dogs", "bark"], ["nsubj", "ROOT"])
    assert dependency_trees(doc[:5].as_doc()) == [first, second]
    assert dependency_trees(doc) == [first, second]
    assert dependency_tree(list(doc.sents)[1]) == second
    assert dependency_trees(Doc(VOCAB)) == []


def test_a_part_of_a_sentence_has_the_heads_that_are_in_it():
    doc = parsed_doc("the/2/det", "old/2/amod", "dog/3/nsubj", "barks/3/ROOT")
    assert dependency_tree(doc[:3]) == Tree.from_parents(
        [2, 2, -1], ["the", "old", "dog"], ["det", "amod", "nsubj"]
    )
    assert dependency_tree(doc[1:2]) == Tree.from_parents([-1], ["old"], ["amod"])
    doc = parsed_doc("Sleeps/0/ROOT", "not/0/neg", "the/3/det", "dog/0/nsubj", "./0/punct")
    assert dependency_tree(doc[2:4]) == Tree.from_parents([1, -1], ["the", "dog"], ["det", "nsubj"])
    with pytest.raises(InputError, match="'not the' has 2 roots"):
        dependency_tree(doc[1:3])


@pytest.mark.parametrize(
    ("doc", "message"),
    [
        (Doc(VOCAB, words=["a", "b"]), "'a b' has no dependency parse"),
        (Doc(VOCAB), "has no words"),
        (parsed_doc("a/0/ROOT", "b/1/ROOT"), "2 roots .*'a', 'b'"),
        (parsed_doc("a/1/x", " /1/ROOT", "b/1/y"), "2 roots .*'a', 'b'"),
        (parsed_doc("a/1/x", "b/0/y"), "form a cycle"),
        (parsed_doc("a/0/ROOT", " /2/x", " /1/y", "b/1/z"), "form a cycle"),
    ],
)
def test_what_is_no_dependency_tree_is_refused(doc, message):
    with pytest.raises(InputError, match=message):
        dependency_tree(doc)


def test_constituency_trees_keep_labels_and_arities(parsed):
    doc = parsed("The old dog barks. It sleeps", DOG, IT)
    assert [to_brackets(tree) for tree in constituency_trees(doc)] == [DOG, IT]
    assert to_brackets(constituency_tree(list(doc.sents)[1])) == IT
    with pytest.raises(InputError, match="at 5 expected 'It', found None"):
        constituency_tree(doc)


# -- texts as people type them


TYPED = [
    "I did'nt like it and would`nt go, it is´nt good.",
    "They DIDNT work, i dont know, it doesn;t and isn t nice.",
    "wont and cant stay, but doesnt' does not",
    "A terriﬁc ﬁlm, 𝗱𝗼𝗻'𝘁 miss ｔｈｉｓ！",
    "It dosn't work, i havn’t seen it, you mus'nt and mayn't; DOn't go",
    'a <b>good</b> film, <a href="x">so</a> to say',
    "don&#39;t say &quot;no&quot; to R&amp;B &lt;3",
    "cafe\u0301 go\u200bod \ufefffine, bad\xadly 5\ufe0f\u20e3 stars",
    "Love it❤️ 👍🏽👎👎, 🤦\u200d♀️ 🇺🇸🇩🇪 👨\u200d👩\u200d👧 so :) <3",
    'I can\'t (#not_happy) "#SoGood" #fail, #Top10Movies! @ada',
    "a **very good** _film_ <![CDATA[and `so`]]> [well made](https://x.org/a)",
    "I cant and wont go, as is his wont; CANT they? It shant. Im sure youre right, thats it.",
    "I canâ€™t, didnâ\x80\x99t and won\x92t go to the cafÃ©; it%27s so.",
    "I\\u2019m ok \\ud83d\\ude02 &copy &#34so",
    "★☆☆☆☆ f*cking $hit, a b*tch. bull**** a**hole ★★★★★ 🫠 ♡ $50 C* 5*",
    'He said "terriﬁc" (well-made, and/or new) films, the \'80s & "so".',
    "The '60s, the ’70s and 'til now: 'Alabama' manages the characters' lives",
    "‘Alabama’ and “‘b’ c”, word—word word--word a – b ---- c, [x] {y} (z) :-)",
]


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def words(doc):
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
    tokens = tokens_at(doc, sentence.offsets + sentence.start)
    shown = [doc[start:end].text for start, end in tokens.tolist()]
    assert shown[:3] == ["It", "did'nt", "did'nt"]
    assert ("ﬁlm" in shown[6], shown[7:]) == (True, ["don", "don t"])
    firsts = tokens[:, 0].tolist()
    assert firsts == sorted(firsts)


def test_a_doc_of_tags_has_no_sentence(nlp):
    assert sentences_of(nlp("<br><br />")) == []
    assert words(nlp("<br> x <user>")) == ["x", "<", "user", ">"]


def test_one_long_token_becomes_several_words(nlp):
    doc = Doc(nlp.vocab, ["x", "a_" * LONGEST, "y"], spaces=[True, True, False])
    (sentence,) = sentences_of(doc)
    assert sentence.words == ["x", *["a_" * (LONGEST // 2)] * 2, "y"]
    tokens = tokens_at(doc, sentence.offsets + sentence.start)
    assert tokens.tolist() == [[0, 1], [1, 2], [1, 2], [2, 3]]
