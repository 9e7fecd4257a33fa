"""Sentences of plain texts."""

from pathlib import Path

import pytest

from thinstack.errors import DataError
from thinstack.training.lessons.texts import read_plain_texts

CONLLU = """# sent_id = 1
# text = It isn't bad.
1\tIt\t_\t_\t_\t_\t0\troot\t_\t_

# text = Gone
1\tGone\t_\t_\t_\t_\t0\troot\t_\t_
"""


def test_lines_are_cut_into_sentences_of_words(tmp_path: Path) -> None:
    text, conllu = tmp_path / "a.txt", tmp_path / "b.conllu"
    text.write_text("It works. I can't complain!\n\nit works.\nOne two three four five six.\n")
    conllu.write_text(CONLLU)
    found = read_plain_texts([text, conllu], 6)
    assert found == [
        ("It", "works", "."),
        ("I", "ca", "n't", "complain", "!"),
        ("It", "is", "n't", "bad", "."),
    ]
    kept_back = [("IT", "works", "."), ["it", "is", "n't", "bad", "."]]
    assert read_plain_texts([text, conllu], 6, kept_back) == found[1:2]
    assert len(read_plain_texts([text, conllu], 7)) == 4


@pytest.mark.parametrize("name", ["empty.txt", "gone.txt", "blank.txt", "no.conllu"])
def test_files_without_sentences(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "blank.txt").write_text("\n \n")
    (tmp_path / "no.conllu").write_text("1\tGone\t_\t_\t_\t_\t0\troot\t_\t_\n")
    with pytest.raises(DataError, match=name):
        read_plain_texts([tmp_path / name], 30)
