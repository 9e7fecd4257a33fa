"""Reading word vectors."""

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pytest

from thinstack.bundle import open_bundle
from thinstack.data.words.vectors import read_vectors, recipe_vectors, standardise, vectors_file
from thinstack.errors import DataError

PIECES = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
VALUES = np.array([[1.0, -2.5, 0.25], [0.0, 1e-3, 4.0]])


def npz(folder, **arrays):
    path = folder / "table.npz"
    np.savez(path, **arrays)
    return path


def text(folder, content):
    path = folder / "table.txt"
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("header", ["", "2 3\n", "\ufeff"])
def test_text_is_read_with_words_that_hold_spaces(tmp_path, header):
    found = read_vectors(
        text(tmp_path, header + ". . . 1 -2.5 0.25\r\nn\u00a0\ro\u2028 0 1e-3 4 \n")
    )
    assert found.words == (". . .", "n\u00a0\ro\u2028")
    np.testing.assert_array_equal(found.vectors, VALUES.astype(np.float32))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1 2\nb 1\n", r"txt:2: expected a word and 2 numbers, found 'b 1'"),
        ("a b c\n", r"txt:1: expected a word and its numbers"),
        ("", "found none"),
        ("2 3\n", "found none"),
        ("1 999999999\n", "found none"),
        ("1 9223372036854775808\n", r"txt:1: expected a word and its numbers"),
        ("1 " + "9" * 5000 + "\n", r"txt:1: expected a word and its numbers"),
        ("a 1 2\nb nan 4\n", "vector of 'b' is not finite"),
        ("a 1 2\nb 1e39 4\n", "vector of 'b' is not finite"),
        ("a 1 2\nb 3 2\n", r"column 1 \(of 0 to 1\) is the same"),
        ("the 0.1 0.2\nfilm 0.5 0.3 0.4\n", "txt:2: "),  # no word ends in 0.5
        ("the 0.1 0.2\ngood 0.3 0.4film 0.5 0.6\n", "txt:2: "),  # two lines in one
        ("the 0.1 0.2\rgood 0.3 0.4\rfilm 0.5 0.6", "txt:1: "),
        ("the 0,1 0,2\n", "txt:1: "),
        ("the 22038615\nof 12545825\n", "txt:1: "),  # counts
        ("word x y\nthe 0.1 0.2\ngood 0.3 0.4\n", "txt:1: "),
        ("the 0.1 0.2\ngood 0.3 1_0\n", "txt:2: "),
        ("the 0.1 0.2\n 0.3 0.4\n", "txt:2: "),
    ],
)
def test_broken_text_is_refused(tmp_path, content, message):
    path = text(tmp_path, content)
    with pytest.raises(DataError, match=message) as caught:
        read_vectors(path)
    assert str(path) in str(caught.value)


COLUMNS = np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -6e-1], [7, 0.8, 0.9]], np.float32)


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\t \r\n"])
@pytest.mark.parametrize("between", [" ", "  ", "\t", " \t", "     "])
@pytest.mark.parametrize("header", ["", "3 3", "3\t3", "400000  3", "2 3"])
def test_fields_stand_between_any_number_of_spaces_and_tabs(tmp_path, between, end, header):
    words, rows = ("the", "1 800", "2004"), ("0.1 -0.2 0.3", "0.4 0.5 -6e-1", "7 .8 0.9")
    lines = [between.join([word, *row.split()]) for word, row in zip(words, rows, strict=True)]
    found = read_vectors(text(tmp_path, end.join([*([header] if header else []), *lines, ""])))
    assert (found.words, found.vectors.tolist()) == (words, COLUMNS.tolist())


def test_vectors_of_one_number_are_read_where_the_first_line_says_so(tmp_path):
    found = read_vectors(text(tmp_path, "2 1\nthe 1\ngood 2\n"))
    assert (found.words, found.vectors.tolist()) == (("the", "good"), [[1], [2]])


@pytest.mark.parametrize("kind", ["text", "npz"])
def test_the_first_vector_of_a_word_is_kept(tmp_path, kind):
    words = ["a", "359-\ufffd", "359-\ufffd", "b", "a", "a"]
    rows = np.arange(12, dtype=np.float32).reshape(6, 2) + 0.5
    lines = [f"{word} {x} {y}\n" for word, (x, y) in zip(words, rows.tolist(), strict=True)]
    path = npz(tmp_path, words=np.array(words), vectors=rows)
    path = path if kind == "npz" else text(tmp_path, "".join(lines))
    with pytest.warns(UserWarning, match=r"3 of 6 vectors .*, such as '359-") as told:
        found = read_vectors(path)
    assert (len(told), told[0].filename) == (1, __file__)
    assert found.words == ("a", "359-\ufffd", "b")
    assert found.vectors.tolist() == rows[[0, 1, 3]].tolist()


@pytest.mark.parametrize("name", ["table.txt.gz", "table.vec"])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_vectors_in_a_compressed_file(tmp_path, name, pack):
    content = pack(b"the 0.1 0.2\ngood 0.3 0.4\n")
    (tmp_path / name).write_bytes(content)
    assert read_vectors(tmp_path / name).words == ("the", "good")
    (tmp_path / name).write_bytes(content[:-9])
    with pytest.raises(DataError, match=rf"{name}: .*compressed"):
        read_vectors(tmp_path / name)
    (tmp_path / name).write_bytes(b"PK\x03\x04 glove.6B.zip")
    with pytest.raises(DataError, match=rf"{name}: .* a zip archive"):
        read_vectors(tmp_path / name)
    (tmp_path / name).write_bytes(pack(bytes(1 << 25)))
    with pytest.raises(DataError, match=rf"{name}:1: .*16,777,216"):
        read_vectors(tmp_path / name)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"vectors": VALUES}, "expected the arrays 'words'"),
        ({"words": np.array(["a", "b"])}, "found \\['words'\\]"),
        ({"words": np.array(["a"]), "vectors": VALUES}, r"\(1, X\), found float64 \(2, 3\)"),
        ({"words": np.array(["a", "b"]), "vectors": VALUES.astype(int)}, "expected float vectors"),
        ({"words": np.array([1, 2]), "vectors": VALUES}, "flat array of strings"),
        ({"words": np.array(["a", "b"], object), "vectors": VALUES}, "no plain arrays"),
        ({"words": np.array(["a", "b"]), "vectors": VALUES * 1e39}, "'a' is not finite"),
    ],
)
def test_broken_npz_is_refused(tmp_path, arrays, message):
    with pytest.raises(DataError, match=message):
        read_vectors(npz(tmp_path, **arrays))


def test_text_in_another_encoding_and_missing_files_are_refused(tmp_path):
    (tmp_path / "latin.txt").write_bytes(b"a 3 4\n" + "é 1 2\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.txt:2: .*0xe9"):
        read_vectors(tmp_path / "latin.txt")
    with pytest.raises(DataError, match=r"nowhere\.npz: cannot be read"):
        read_vectors(tmp_path / "nowhere.npz")


def archive(path, members, compression, **header):
    """A zip file of these members, with these fields in its directory."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
        for member in file.infolist():
            for field, value in header.items():
                setattr(member, field, value)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


ARRAYS = {"words.npy": npy(np.array(["a", "b"] * 99)), "vectors.npy": npy(np.tile(VALUES, (99, 1)))}


@pytest.mark.parametrize(
    ("members", "compression", "header", "message"),
    [
        ({"words": b"a\n", "vectors": b"1\n"}, zipfile.ZIP_STORED, {}, "no plain .* words.npy"),
        ({"words.npy": b"a", "vectors.npy": b"1"}, zipfile.ZIP_STORED, {}, "no plain .* words.npy"),
        (ARRAYS, zipfile.ZIP_STORED, {"flag_bits": 1}, "cannot be read .*encrypted"),
        (ARRAYS, zipfile.ZIP_STORED, {"compress_type": 99}, "cannot be read .*compression"),
    ],
)
def test_archives_without_arrays_are_refused(tmp_path, members, compression, header, message):
    archive(tmp_path / "table.npz", members, compression, **header)
    with pytest.raises(DataError, match=rf"table\.npz: .*{message}"):
        read_vectors(tmp_path / "table.npz")


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("half", [False, True])
def test_damaged_archives_are_refused(tmp_path, compression, half):
    path = tmp_path / "table.npz"
    archive(path, ARRAYS, compression)
    content = path.read_bytes()
    start = content.index(b"words.npy") + 20
    zeroed = content[:start] + bytes(30) + content[start + 30 :]
    path.write_bytes(content[: len(content) // 2] if half else zeroed)
    with pytest.raises(DataError, match=r"table\.npz: cannot be read"):
        read_vectors(path)


@pytest.mark.parametrize("value", [1.0, np.nan, np.inf])
def test_standardise_refuses_what_has_no_scale(value):
    with pytest.raises(DataError, match="cannot be scaled"), np.errstate(invalid="ignore"):
        standardise(np.full((3, 2), value, np.float32), 0.3)


def test_vectors_of_8_bits_are_multiplied_by_their_scale(tmp_path):
    levels, scale = np.array([[127, -5], [0, 3]], np.int8), np.array([[0.5], [2]], np.float16)
    np.savez(tmp_path / "v.npz", pieces=np.array(["a", "b"]), vectors=levels, scale=scale)
    assert read_vectors(tmp_path / "v.npz").vectors.tolist() == [[63.5, -2.5], [0, 6]]


def test_words_that_a_file_does_not_store_are_given(tmp_path):
    np.savez(tmp_path / "bare.npz", vectors=np.asfortranarray(VALUES))
    found = read_vectors(tmp_path / "bare.npz", ("a", "##b"))
    assert found.words == ("a", "##b")
    assert found.vectors.tolist() == VALUES.astype(np.float32).tolist()
    assert found.vectors.flags.c_contiguous
    own = npz(tmp_path, pieces=np.array(["c", "d"]), vectors=VALUES)
    assert read_vectors(own, ("a", "##b")).words == ("c", "d")
    with pytest.raises(DataError, match=r"\(3, X\), .*\(2, 3\)"):
        read_vectors(tmp_path / "bare.npz", ("a", "b", "c"))
    with pytest.raises(DataError, match=r"'words' .*\['vectors'\]"):
        read_vectors(tmp_path / "bare.npz")


def test_the_vectors_of_thinstack_are_those_of_its_pieces():
    found = recipe_vectors("wordpieces", Path("nowhere"))
    vocabulary = open_bundle("sentiment").vocabulary()
    assert found.words == vocabulary.entries
    assert vocabulary.digest() == PIECES, (
        "bundled/wordpieces.npz has a row for each piece of the bundled model, in its order, and "
        "no pieces of its own: keep that vocabulary, or make the file anew"
    )
    assert found.vectors.shape == (30522, 100)
    near = found.vectors / np.linalg.norm(found.vectors, axis=1, keepdims=True)
    at = {piece: row for row, piece in enumerate(found.words)}
    assert near[at["good"]] @ near[at["great"]] > near[at["good"]] @ near[at["table"]] + 0.2
    assert vectors_file("glove.txt", Path("data")) == Path("data/glove.txt")


def test_the_vectors_of_thinstack_are_near_those_they_are_made_of(data_dir):
    table = recipe_vectors("wordpiece.minilm-l6.pca200.npz", data_dir / "vectors")
    found = recipe_vectors("wordpieces", data_dir)
    assert found.words == table.words
    errors = found.vectors - table.vectors[:, :100]
    # Rounding to steps of s leaves errors that spread evenly over s: a deviation of s / sqrt(12).
    assert np.abs(errors).max() <= 0.25 * table.vectors[:, :100].std() * 1.001
    assert errors.std() == pytest.approx(0.5 / np.sqrt(12) * table.vectors[:, :100].std(), rel=0.01)
