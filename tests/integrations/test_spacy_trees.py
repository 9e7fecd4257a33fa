"""From Docs to words and trees; parses are stored strings, as benepar sets them."""

from collections.abc import Callable, Iterator

import pytest
import spacy
from spacy.tokens import Doc, Span

from thinstack.core import Tree
from thinstack.data.tree_sources import tree_maker
from thinstack.errors import InputError
from thinstack.integrations.spacy_trees import sentences


@pytest.fixture
def parsed() -> Iterator[Callable[..., Doc]]:
    """Makes a Doc, its sentences having these parses by their position."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    parses: list[object] = []

    def parse_string(span: Span) -> object:
        found = parses[[sent.start for sent in span.doc.sents].index(span.start)]
        if isinstance(found, Exception):
            raise found
        return found

    def make(text: str, *found: object) -> Doc:
        parses[:] = found
        return nlp(text)

    Span.set_extension("parse_string", getter=parse_string)
    yield make
    Span.remove_extension("parse_string")


def tree(doc: Doc, number: int = 0) -> str:
    """The tree that is made of a sentence's parse, in brackets without labels."""
    sentence = sentences(doc, None)[number]
    labels = ["x"] * len(sentence.transitions)
    return Tree.from_transitions(sentence.transitions, sentence.words, labels).to_brackets().replace("(x ", "(")


def test_parses_are_binarised(parsed: Callable[..., Doc]) -> None:
    doc = parsed(
        "The old dog barks. It sleeps",
        "(S (NP (DT The) (JJ old) (NN dog)) (VP (VBZ barks)) (. .))",
        "(S (NP (PRP It)) (VP (VBZ sleeps)))",
    )
    assert tree(doc, 0) == "(((The) ((old) (dog))) ((barks) (.)))"
    assert tree(doc, 1) == "((It) (sleeps))"
    assert [(item.start, item.end) for item in sentences(doc, None)] == [(0, 5), (5, 7)]


def test_tokens_of_white_space_are_left_out(parsed: Callable[..., Doc]) -> None:
    assert tree(parsed("  a \n b  c", "(S (X (_SP   )) (A a) (_SP \n ) (VP (B b) (_SP  ) (C c)))")) == "((a) ((b) (c)))"


def test_brackets_and_quotes_are_known_in_any_spelling(parsed: Callable[..., Doc]) -> None:
    text, parse = 'A (b) "c"', "(S (D A) (P (-LRB- -LRB-) (N b) (-RRB- -RRB-)) (Q (`` {}) (N c) ('' \")))"
    expected = "((A) (((-LRB-) ((b) (-RRB-))) ((``) ((c) ('')))))"
    assert tree(parsed(text, parse.format('"'))) == expected
    assert tree(parsed(text, parse.format("``"))) == expected


def test_a_word_of_several_tokens_stands_where_the_first_does(parsed: Callable[..., Doc]) -> None:
    doc = parsed("a well-made film", "(NP (DT a) (ADJP (RB well) (HYPH -) (VBN made)) (NN film))")
    assert tree(doc) == "((a) ((well-made) (film)))"
    doc = parsed("a well-made film", "(X (NP (DT a) (RB well)) (Y (HYPH -) (Z (VBN made) (NN film))))")
    assert tree(doc) == "(((a) (well-made)) (film))"


def test_a_token_of_several_words_becomes_a_phrase(parsed: Callable[..., Doc]) -> None:
    doc = parsed("In New York City now", "(S (PP (IN In) (NP (NNP NewYorkCity))) (RB now))")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:4])
    assert tree(doc) == "(((In) ((New) ((York) (City)))) (now))"


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        ("(S (A a) (B b))", "at 2 expected 'c', found None"),
        ("(S (A a) (B b) (C c) (D d))", "at 3 expected None, found 'd'"),
        ("(S (A a) (X x) (C c))", "at 1 expected 'b', found 'x'"),
        ("(S (A a) (B b) (C c)", "holds no tree: 1:? ?.*unbalanced|holds no tree: .*unbalanced"),
        ("", "holds no tree"),
        (None, "is None, expected labelled brackets"),
        (RuntimeError("no parse here"), "cannot be read: no parse here"),
    ],
)
def test_a_parse_that_does_not_fit_is_refused(parsed: Callable[..., Doc], parse: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        sentences(parsed("a b c", parse), None)
    assert "'a b c'" in str(caught.value)


def test_without_any_parses_the_message_names_benepar() -> None:
    doc = spacy.blank("en")("a b c")
    with pytest.raises(InputError, match=r'pip install benepar.*nlp\.add_pipe\("benepar"'):
        sentences(doc, None)


def test_the_tokens_of_each_word() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp(" It is n't well-made. And/or\tit is.")
    words = [
        [(word, doc[first:last].text) for word, (first, last) in zip(found.words, found.tokens.tolist(), strict=True)]
        for found in sentences(doc, tree_maker("left"))
    ]
    assert words == [
        [("It", "It"), ("is", "is"), ("n't", "n't"), ("well-made", "well-made"), (".", ".")],
        [("And\\/or", "And/or"), ("it", "it"), ("is", "is"), (".", ".")],
    ]
