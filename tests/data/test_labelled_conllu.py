"""CoNLL-U with classes in comments and in MISC, against lines written by hand."""

import pytest

from thinstack.core import Tree
from thinstack.data.trees.conllu import read_labelled_conllu
from thinstack.errors import DataError, TreeError


def rows(*words: str) -> str:
    """A sentence of words given as `id form head misc`."""
    lines = ("{}\t{}\t_\t_\t_\t_\t{}\tdep\t_\t{}\n".format(*word.split(" ", 3)) for word in words)
    return "".join(lines) + "\n"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "trees.conllu"


FILM = rows("1 good 2 _", "2 film 0 _")


def test_labels_are_those_of_sentences_and_of_what_words_head(file):
    sentences = [
        "# sent_id = 1\n#Label=very  positive \n# text = x\n" + FILM,
        rows(
            "1-2 an 0 SpaceAfter=No",
            "1 a 2 X=Label=no|Label=neg",
            "2 n 0 label = pos ",
            "2.1 o _ _",
        ),
        "# labels = x\n# label of = y\n" + FILM,
        "# label = a\n" + rows("1 good 0 Gloss=g|Label=a"),
        "# the end\n\n",
    ]
    file.write_text("\n".join(sentences), encoding="utf-8")
    assert [tree.labels for tree in read_labelled_conllu(file)] == [
        (None, "very  positive"),
        ("neg", "pos"),
        (None, None),
        ("a",),
    ]
    first = read_labelled_conllu(file)[0]
    assert first == Tree.from_parents([1, -1], ["good", "film"], [None, "very  positive"])


MALFORMED = [
    ("# label =  \n" + FILM, 1, 1, "the name of a class after"),
    (rows("1 good 2 Label=", "2 film 0 _"), 1, 24, "the name of a class after"),
    ("# label = a\n# text = b\n# label = c\n" + FILM, 3, 1, "each node, found 'c' beside 'a'"),
    ("# label = a\n" + rows("1 b 2 _", "2 c 0 Label=d"), 3, 21, "each node, found 'd' beside 'a'"),
    (rows("1 b 2 X=Y|Label=d|Label=e", "2 c 0 _"), 1, 21, "each node, found 'e' beside 'd'"),
    (rows("1-2 bc 2 Label=d", "1 b 2 _", "2 c 0 _"), 1, 24, "words only, 1-2 is no word"),
    (rows("1 b 0 _", "1.1 c _ Label=d"), 2, 23, "words only, 1.1 is no word"),
    ("# label = a\n\n", 1, 1, "a sentence below its label"),
    ("# label = a\n1\tb\t_\n\n", 2, 6, "10 columns"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), MALFORMED)
def test_what_is_malformed_is_placed_and_can_be_skipped(file, text, line, column, message):
    good = "# label = fine\n" + FILM
    file.write_text(text + good, encoding="utf-8")
    with pytest.raises(TreeError, match=message) as caught:
        read_labelled_conllu(file)
    assert (caught.value.source, caught.value.line, caught.value.column) == (
        str(file),
        line,
        column,
    )
    skipped: list[TreeError] = []
    (tree,) = read_labelled_conllu(file, skipped=skipped)
    assert (tree.labels, len(skipped)) == ((None, "fine"), 1)


def test_a_file_without_labels_is_refused(file):
    file.write_text(FILM, encoding="utf-8")
    with pytest.raises(DataError, match=r"trees\.conllu: .*'# label = NAME'"):
        read_labelled_conllu(file)
    file.write_text("# label = a\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="CoNLL-U"):
        read_labelled_conllu(file)
