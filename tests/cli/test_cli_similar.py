"""`thinstack similar`, with the bundled model."""

import pytest

TEXTS = "A warm and funny comedy.\nA dull and lifeless story.\nWhat a waste of two hours!\n"


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text(TEXTS, encoding="utf-8")
    return path


def test_json_has_the_nearest_of_each_text(cli, texts):
    args = ("similar", "sentiment", "A funny film.", "A bad film.", "--texts", texts)
    funny, bad = cli(*args, "--top", "2", "--json").json
    assert (funny["text"], funny["by"], len(bad["nearest"])) == ("A funny film.", "vectors", 2)
    assert funny["nearest"][0]["text"] == "A warm and funny comedy."
    assert "comedy" not in str(bad["nearest"])
    first, second = (each["score"] for each in funny["nearest"])
    assert 1 >= first > second >= -1


def test_a_table_for_readers(cli, texts):
    code, out, _ = cli("similar", "sentiment", "--texts", texts, "A funny film.", "--by", "mean")
    assert code == 0
    assert out.index("A funny film.") < out.index("A warm and funny comedy.")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("sentiment", "good", "--by", "score"), "expected a model of scored pairs"),
        (("nowhere", "good"), "unknown model"),
        (("sentiment", "  "), "has no words"),
    ],
)
def test_an_error_is_a_message(cli, texts, args, says):
    code, out, err = cli("similar", *args, "--texts", texts)
    assert (code, out) == (2, "")
    assert says in err


def test_a_file_that_is_missing(cli, tmp_path):
    code, _, err = cli("similar", "sentiment", "good", "--texts", tmp_path / "none.txt")
    assert (code, "cannot be read" in err) == (2, True)
