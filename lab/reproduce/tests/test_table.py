"""Tables as they are read: recipes laid over each other, runs in order, and what is refused."""

from functools import reduce
from operator import getitem

import pytest
from tiny_table import tiny, write

from reproduce.shown import Column
from reproduce.table import Table
from thinstack.errors import ConfigError, UnknownNameError


def read(folder, table):
    return Table.read(write(folder, table))


# -- recipes and runs


def test_a_recipe_is_the_tables_then_the_rows_then_the_variants(tmp_path):
    data = tiny()
    data["rows"][0]["recipe"] = {
        "training": {"epochs": 7, "learning_rate": 0.5},
        "model": {"labels": ["no", "yes"]},
    }
    data["variants"]["left"]["training"]["learning_rate"] = 0.25
    table = read(tmp_path, data)
    row = table.row("lstm")
    own, left = table.recipe_of(row), table.recipe_of(row, "left")
    assert (own.name, left.name) == ("tiny.lstm", "tiny.lstm.left")
    assert (own.training.epochs, own.training.batch_size, own.training.learning_rate) == (7, 8, 0.5)
    training = left.training
    assert (training.epochs, training.learning_rate, training.trees) == (7, 0.25, ("left",))
    assert own.model.labels == left.model.labels == ("no", "yes")
    assert own.model.embedding.size == 4


def test_a_row_has_the_last_word_on_its_recipe_in_a_variant(tmp_path):
    data = tiny()
    data["variants"]["left"]["training"]["epochs"] = 4
    data["rows"][0]["variant_recipes"] = {"left": {"training": {"epochs": 7}}}
    data["rows"][1]["variants"] = ["left"]
    table = read(tmp_path, data)
    epochs = {(run.row.name, run.variant): run.recipe.training.epochs for run in table.runs()}
    assert epochs == {("lstm", ""): 2, ("lstm", "left"): 7, ("rvnn", ""): 2, ("rvnn", "left"): 4}
    assert table.recipe_of(table.row("lstm"), "left").training.trees == ("left",)


def test_options_stay_with_the_cell_that_they_were_given_to(tmp_path):
    data = tiny()
    data["rows"].append(
        {"name": "wide", "title": "Wide", "recipe": {"model": {"cell": {"hidden_size": 9}}}}
    )
    table = read(tmp_path, data)
    rvnn, wide = (table.recipe_of(table.row(name)).model.cell for name in ("rvnn", "wide"))
    assert (rvnn.name, rvnn.hidden_size, rvnn.options) == ("rvnn.v1", 3, {})
    assert (wide.name, wide.hidden_size) == ("nary_lstm_of_table_1.v1", 9)
    assert wide.options == {"bias": "double"}


def test_a_development_file_and_a_number_of_examples_replace_each_other(tmp_path):
    data = tiny()
    data["rows"][0]["recipe"] = {"data": {"dev_size": 5}}
    data["variants"]["left"]["data"] = {"dev": "other.txt"}
    table = read(tmp_path, data)
    own, left = (table.recipe_of(table.row("lstm"), variant).data for variant in ("", "left"))
    assert (own.dev, own.dev_size) == (None, 5)
    assert (left.dev, left.dev_size) == ("other.txt", None)


def test_runs_are_every_seed_of_every_variant_of_every_row(tmp_path):
    data = tiny()
    data["rows"][1]["recipe"]["training"] = {"seeds": [5]}
    data["rows"].append({"name": "plain", "title": "Words", "rival": "tfidf"})
    table = read(tmp_path, data)
    lstm = ["lstm/1", "lstm/2", "lstm/left/1", "lstm/left/2"]
    assert [run.path for run in table.runs()] == [*lstm, "rvnn/5", "plain/1", "plain/left/1"]
    assert [run.path for run in table.runs(["rvnn"], [8, 9, 8])] == ["rvnn/8", "rvnn/9"]
    with pytest.raises(UnknownNameError, match=r"unknown row 'gru'; known: lstm, plain, rvnn"):
        table.runs(["gru"])


def test_a_rival_takes_the_tables_data_and_any_model(tmp_path):
    data = tiny()
    cell = data["recipe"]["model"].pop("cell")
    data["rows"][0]["recipe"] = {"model": {"cell": cell}, "data": {"train": "mine.txt"}}
    data["rows"].append({"name": "plain", "title": "Words", "rival": "tfidf"})
    assert read(tmp_path, data).runs(["plain"])[0].recipe.data.train == "train.txt"


# -- test files


def dev_files(table, tests):
    return {run.path: (run.recipe.data.dev, run.test) for run in table.runs(["lstm"], [1], tests)}


def test_a_test_file_takes_the_place_of_the_development_data(tmp_path):
    data = tiny()
    data["recipe"]["data"] = {"train": "train.txt", "dev_size": 5}
    table = read(tmp_path, data)
    assert dev_files(table, {}) == {"lstm/1": (None, False), "lstm/left/1": (None, False)}
    test = ("t.txt", True)
    assert dev_files(table, {"": "t.txt"}) == {"lstm/1": test, "lstm/left/1": test}
    assert dev_files(table, {"left": "t.txt"}) == {"lstm/1": (None, False), "lstm/left/1": test}


def test_the_test_file_of_a_row_is_not_that_of_a_variant_with_other_data(tmp_path):
    data = tiny()
    data["variants"]["left"]["data"] = {"dev": "other.txt"}
    table = read(tmp_path, data)
    own, test = ("other.txt", False), ("t.txt", True)
    assert dev_files(table, {"": "t.txt"}) == {"lstm/1": test, "lstm/left/1": own}
    both = dev_files(table, {"": "t.txt", "left": "u.txt"})
    assert both == {"lstm/1": test, "lstm/left/1": ("u.txt", True)}


def test_nothing_stops_on_a_test_file(tmp_path):
    data = tiny()
    data["rows"][1]["recipe"]["training"] = {"stop_on": "dev"}
    table = read(tmp_path, data)
    assert table.runs(["lstm"], tests={"": "t.txt"})
    with pytest.raises(ConfigError, match=r'tiny: row rvnn: training.stop_on is "dev"'):
        table.runs(tests={"": "t.txt"})


# -- what is refused


CURVE = {"name": "length", "title": "By length", "x": "words", "last": 9}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("rows.1.name", "lstm", "rows must differ in their names, found ['lstm'] more than once"),
        ("rows.1.name", "2", "row 2: name: String should match pattern"),
        ("rows.1.colour", "red", "row rvnn: colour: Extra inputs are not permitted"),
        ("rows.1.trees", "any", "row rvnn: trees: Input should be 'gold', "),
        ("rows.1.trees", "self", "row rvnn: trees = 'self', but its model is measured with gold,"),
        ("rows.0.trees", "balanced", "row lstm, variant left: trees = 'balanced', but its model"),
        ("rows.1.paper", {"f1": 3}, "row rvnn: paper names ['f1']; columns are"),
        ("rows.1.paper_std", {"root_accuracy": 3}, "row rvnn: paper_std of"),
        ("rows.1.variants", ["right"], "row rvnn: variants names ['right']; variants are ['left']"),
        ("rows.0.variant_recipes", {"right": {}}, "row lstm: variant_recipes names ['right']; its"),
        ("rows.1.variant_recipes", {"left": {}}, "row rvnn: variant_recipes names ['left']; its"),
        ("rows.0.variant_recipes", {"left": {"name": "x"}}, "row lstm: variant_recipes.left:"),
        ("rows.1.rival", "tfidf", "row rvnn: a rival has neither recipe nor"),
        (
            "rows.0",
            {"name": "r", "title": "R", "rival": "tfidf", "variant_recipes": {"left": {}}},
            "row r: a rival has neither",
        ),
        ("rows.1.recipe.model.cell.hidden_size", 0, "row rvnn: model.cell.hidden_size: Input"),
        ("rows.1.recipe.model", 7, "row rvnn: model: Input should be"),
        ("rows.1.recipe.name", "x", "row rvnn: recipe: has a name; that of a recipe"),
        ("variants.left.training.epochs", -1, "row lstm, variant left: training.epochs: Input"),
        ("variants.left.name", "x", "variants.left: has a name; that of a recipe"),
        ("variants.2nd", {}, "variants.2nd.[key]"),
        ("columns.0.key", "a/b/c", "key must be [VARIANT/][SOURCE.]FIGURE, found 'a/b/c'"),
        ("columns.1.key", "right/x", "column right/x names ['right']; variants are ['left']"),
        ("columns.1.key", "root_accuracy", "columns must differ in their names, found ['root_"),
        ("columns", [], "columns: Tuple should have at least 1 item"),
        ("curves", [{**CURVE, "rows": ["gru"]}], "curve length: rows names ['gru']; rows with a"),
        (
            "curves",
            [{**CURVE, "rows": ["rvnn"], "variant": "left"}],
            "curve length, row rvnn: variant names ['left']; its variants, '' for itself are ['']",
        ),
        ("compare", [{"a": "lstm", "b": "gru", "key": "root_accuracy"}], "compare names ['gru'];"),
        ("compare", [{"a": "lstm", "b": "rvnn", "key": "mse"}], "compare names ['mse']; columns"),
        ("rows", [], "rows: Tuple should have at least 1 item"),
        ("rows", 7, "rows: Input should be a valid tuple"),
    ],
)
def test_a_bad_table_is_refused_and_the_place_named(tmp_path, place, value, message):
    data = tiny()
    *keys, last = (int(key) if key.isdigit() else key for key in place.split("."))
    reduce(getitem, keys, data)[last] = value
    path = write(tmp_path, data)
    with pytest.raises(ConfigError) as caught:
        Table.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", [None, "name = ", b"\xff"])
def test_a_file_that_is_no_table_is_refused(tmp_path, text):
    path = tmp_path / "table.toml"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(
        ConfigError, match=r"table\.toml: (not a readable TOML table|cannot be read): "
    ):
        Table.read(path)


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("mse", ("", None, "mse")),
        ("self.span_f1", ("", "self", "span_f1")),
        ("binary/root_accuracy", ("binary", None, "root_accuracy")),
        ("a-b/gold.x1", ("a-b", "gold", "x1")),
    ],
)
def test_the_key_of_a_column_names_variant_source_and_figure(key, parts):
    assert Column(key=key, title="").parts == parts


# -- a recipe to start from


@pytest.mark.parametrize("place", ["gru", "rvnn/left", "lstm/right"])
def test_what_is_not_there_is_not_shown(tmp_path, place):
    with pytest.raises(UnknownNameError, match=r"unknown (row|variant of row (rvnn|lstm)) "):
        read(tmp_path, tiny()).show(place)


def test_a_rival_has_no_recipe_to_show(tmp_path):
    data = tiny()
    data["rows"].append({"name": "plain", "title": "Words", "rival": "tfidf"})
    with pytest.raises(ConfigError, match=r"row plain is the rival 'tfidf', which has no recipe"):
        read(tmp_path, data).show("plain")


PARSER = {"train": "ud/train.conllu", "dev": "ud/dev.conllu"}


def test_a_parser_is_for_models_of_dependency_trees(tmp_path):
    data = tiny()
    data["rows"][1]["parser"] = PARSER
    with pytest.raises(ConfigError, match=r"row rvnn: parser .* model\.trees = 'binary'"):
        read(tmp_path, data)


def test_a_row_with_a_parser_has_no_recipe_for_others(tmp_path):
    data = tiny()
    model = {"trees": "dependency", "cell": {"name": "child_sum_lstm.v1", "options": {}}}
    data["rows"][1] |= {"parser": PARSER, "recipe": {"model": model}}
    with pytest.raises(ConfigError, match="row rvnn has trees of a parser"):
        read(tmp_path, data).show("rvnn")
