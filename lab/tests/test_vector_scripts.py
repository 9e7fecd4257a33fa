"""Scripts that make vector files: make_wordpiece_vectors, make_bundled_vectors, cut_vectors."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from safetensors.numpy import save_file

from thinstack.data.words.vectors import bundled_pieces, read_vectors

SCRIPTS = Path(__file__).parents[1] / "scripts"
MAKE, BUNDLE, CUT = (
    str(SCRIPTS / f"{name}.py")
    for name in ("make_wordpiece_vectors", "make_bundled_vectors", "cut_vectors")
)
PIECES = ["[PAD]", "[UNK]", "a", "film", "##s", "dull", "not", "`", '"', "'", ".", "never"]
TREES = "(1 (1 (1 `) (1 Films)) (0 (1 not) (0 dull)))\n(1 (1 (1 ``) (1 film)) (1 (1 '') (1 .)))\n"
OCCURRING = ["`", "film", "##s", "not", "dull", "`", "`", "film", "'", "'", "."]
TABLE = np.random.default_rng(5).normal(2.0, 1.0, (12, 5)).astype(np.float32)


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join([*PIECES, ""]), encoding="utf-8")
    (tmp_path / "trees.txt").write_text(TREES, encoding="utf-8")
    write_table(folder)
    return folder


def write_table(folder, table=TABLE, name="bert."):
    others = {"embeddings.position_embeddings.weight": TABLE}
    tensors = {f"{name}embeddings.word_embeddings.weight": table, **others}
    save_file(tensors if name else others, folder / "model.safetensors")


@pytest.fixture
def start(monkeypatch):
    def called(script, *words):
        monkeypatch.setattr("sys.argv", [script, *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            run_path(script, run_name="__main__")
        return int(ended.value.code or 0)

    return called


@pytest.fixture
def run(model, tmp_path, start):
    def called(*options, trees="trees.txt", out="out.npz"):
        return start(MAKE, model, tmp_path / trees, tmp_path / out, *options)

    return called


def test_principal_axes_of_the_pieces_as_they_occur(run, tmp_path):
    assert run("--columns", "4", "--scaled", "2") == 0
    pieces, vectors = read_vectors(tmp_path / "out.npz")
    assert list(pieces) == PIECES
    # A row for each occurrence, without weights.
    rows = TABLE[[PIECES.index(piece) for piece in OCCURRING]].astype(float)
    axes = np.linalg.svd(rows - rows.mean(0))[2][:4].T
    expected = (TABLE - rows.mean(0)) @ (axes * np.sign(axes[np.abs(axes).argmax(0), range(4)]))
    expected /= np.sqrt((expected[sorted(map(PIECES.index, set(OCCURRING))), :2] ** 2).mean())
    np.testing.assert_allclose(vectors, expected, atol=5e-3)


def test_words_of_a_conllu_file_weigh_alike(run, tmp_path):
    (tmp_path / "trees.txt").write_text("(1 (1 film) (1 (1 not) (1 dull)))\n", encoding="utf-8")
    words = enumerate(["film", "not", "dull"])
    rows = [f"{place + 1}\t{word}\t_\t_\t_\t_\t{place}\tdep\t_\t_\n" for place, word in words]
    (tmp_path / "words.conllu").write_text("".join(rows), encoding="utf-8")
    for trees in ("trees.txt", "words.conllu"):
        assert run("--columns", "2", "--scaled", "2", trees=trees, out=f"{trees}.npz") == 0
    same, expected = (tmp_path / f"{name}.npz" for name in ("words.conllu", "trees.txt"))
    np.testing.assert_array_equal(read_vectors(same).vectors, read_vectors(expected).vectors)


def test_bad_input_is_named(run, model, tmp_path, capsys):
    def refused(message, *options, **files):
        assert run(*options, **files) == 2
        assert message in " ".join(capsys.readouterr().err.split())
        assert not (tmp_path / "out.npz").exists()

    refused("expected a name that ends with .npz", out="out.txt")
    refused("--scaled 100, --columns 200, 5 in the table")
    refused("gone.txt: cannot be read", "--columns", "4", "--scaled", "4", trees="gone.txt")
    write_table(model, TABLE[:11])
    refused("a row of the table for each line of vocab.txt, found 11 rows for 12 pieces")
    (model / "model.safetensors").unlink()
    refused("expected one file *.safetensors, found none")


def test_the_vectors_of_the_recipes_are_made_so(data_dir, tmp_path):
    model, used = data_dir / "encoders" / "all-minilm-l6-v2", "wordpiece.minilm-l6.pca200.npz"
    if not model.is_dir():
        pytest.skip("needs encoders/all-minilm-l6-v2 in the data folder")
    run_path(MAKE)["make"](model, data_dir / "sst" / "train.txt", tmp_path / used)
    made, kept = (read_vectors(folder / used) for folder in (tmp_path, data_dir / "vectors"))
    assert made.words == kept.words
    alike = np.einsum("pc,pc->c", made.vectors, kept.vectors)
    alike /= np.linalg.norm(made.vectors, axis=0) * np.linalg.norm(kept.vectors, axis=0)
    # Columns of nearly the same variance turn with the few words that are read in another way now.
    assert np.abs(alike).min() > 0.95
    assert np.median(np.abs(alike)) > 0.9998
    scale = np.linalg.norm(made.vectors) / np.linalg.norm(kept.vectors)
    assert scale == pytest.approx(1, abs=3e-4)


def of_bundled_pieces(path, columns=3):
    pieces = bundled_pieces()
    vectors = np.random.default_rng(6).normal(2.0, 1.5, (len(pieces), columns)).astype(np.float32)
    np.savez(path, pieces=np.array(pieces), vectors=vectors)
    return vectors


@pytest.mark.parametrize("step", [0.5, 0.1])
def test_bundled_vectors_are_whole_numbers_of_steps(start, tmp_path, step):
    vectors, out = of_bundled_pieces(tmp_path / "table.npz")[:, :2], tmp_path / "out.npz"
    assert start(BUNDLE, tmp_path / "table.npz", out, "--columns", 2, "--step", step) == 0
    with np.load(out) as arrays:
        assert set(arrays) == {"vectors", "scale"}
        assert arrays["vectors"].dtype == np.int8
        assert arrays["vectors"].flags.f_contiguous
        assert arrays["scale"] == pytest.approx(step * vectors.std(), rel=1e-4)
    found = read_vectors(out, bundled_pieces()).vectors
    assert np.abs(found - vectors).max() == pytest.approx(step * vectors.std() / 2, rel=1e-2)


GLOVE = """the 1 2
Rock 3 4
rock 5 6
a/b 7 8
. 9 10
. . 11 12
" 13 14
other 15 x
"""


@pytest.mark.parametrize("header", ["", "8 2\n"])
def test_words_of_texts_are_kept(start, tmp_path, capsys, header):
    (tmp_path / "glove.txt").write_text(header + GLOVE, encoding="utf-8")
    (tmp_path / "text.txt").write_text("The Rock . nowhere\n(3 (2 a\\/b) (2 ``))\n")
    out = tmp_path / "out.npz"
    assert start(CUT, tmp_path / "glove.txt", out, tmp_path / "text.txt") == 0
    words, vectors = read_vectors(out)
    assert words == ("the", "Rock", "rock", "a/b", ".", '"')
    assert vectors.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [13, 14]]
    assert "6 vectors, for 5 of 8 words" in " ".join(capsys.readouterr().out.split())
