"""What is read from a plugin's class: its name, its options and how it is built."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from thinstack.errors import ConfigError, DataError, PluginError
from thinstack.plugins.specs import Spec

SIZES = {"input_size": 5, "inner_size": 4, "hidden_size": 7, "kinds": 3}


class FakeCell:
    plugin_kind = "cell"
    name = "fake.v1"

    def __init__(
        self,
        *,
        hidden_size: int,
        kinds: int = 9,
        arity: Annotated[int, Field(ge=1)] = 2,
        gate: Literal["sigmoid", "tanh"] = "sigmoid",
    ):
        self.arguments = {"hidden_size": hidden_size, "kinds": kinds, "arity": arity, "gate": gate}


def cell(base: type = FakeCell, **changes: object) -> Spec:
    return Spec("cell", type("Changed", (base,), changes))


@pytest.mark.parametrize(
    "name",
    ["", "lstm", "lstm.1", "lstm.v", "Lstm.v1", "2lstm.v1", "tree-lstm.v1", "a.b.v1", "a.v1\n", 3],
)
def test_other_names_are_refused(name):
    with pytest.raises(PluginError, match=r"'my_name\.v1'"):
        cell(name=name)
    with pytest.raises(PluginError, match="head name"):
        Spec("head", type("Head", (), {"plugin_kind": "head", "name": name}))
    with pytest.raises(PluginError, match="cell name '' of Nameless"):
        Spec("cell", type("Nameless", (), {"plugin_kind": "cell"}))


@pytest.mark.parametrize("plugin", [None, "module:Cell", FakeCell(hidden_size=1), dict])
def test_what_is_no_class_of_the_contract_is_refused(plugin):
    with pytest.raises(PluginError, match=r"subclasses of thinstack\.plugins\.Cell, found "):
        Spec("cell", plugin)
    with pytest.raises(PluginError, match=r"thinstack\.plugins\.TaskHead, found .*FakeCell"):
        Spec("head", FakeCell)


def test_a_constructor_gets_the_sizes_that_it_names_and_validated_options():
    found = cell().create({"arity": "3"}, **SIZES).arguments
    assert found == {"hidden_size": 7, "kinds": 3, "arity": 3, "gate": "sigmoid"}
    found = cell().create({"gate": "tanh"}, input_size=5, hidden_size=7).arguments
    assert found == {"hidden_size": 7, "kinds": 1, "arity": 2, "gate": "tanh"}


def test_a_constructor_with_keywords_gets_all_sizes():
    class Open(FakeCell):
        def __init__(self, **arguments: int):
            self.arguments = arguments

    assert cell(Open).create({}, **SIZES).arguments == SIZES
    with pytest.raises(ConfigError, match=r"depth: .*known options: none"):
        cell(Open).create({"depth": 1}, **SIZES)

    class OpenHead(Open):
        plugin_kind = "head"

    sizes = {"hidden_size": 7, "word_size": 4, "classes": 2}
    assert Spec("head", OpenHead).create({}, **sizes).arguments == sizes
    assert Spec("head", OpenHead).create({}, hidden_size=7, classes=2).arguments["word_size"] == 0


def test_a_class_may_choose_another_by_its_options():
    class Other(FakeCell):
        def __init__(self, *, depth: int, **arguments: int):
            self.arguments = {"depth": depth, **arguments}

    class Choosing(FakeCell):
        @classmethod
        def build(cls, *, depth: Annotated[int, Field(ge=0)] = 0, **arguments: int) -> FakeCell:
            return Other(depth=depth, **arguments) if depth else cls(**arguments)

    assert type(cell(Choosing).create({"arity": 3}, **SIZES)) is not Other
    found = cell(Choosing).create({"depth": 2}, **SIZES)
    assert type(found) is Other
    expected = {"hidden_size": 7, "kinds": 3, "arity": 2, "gate": "sigmoid", "depth": 2}
    assert found.arguments == expected
    with pytest.raises(ConfigError, match=r"'fake\.v1': depth: "):
        cell(Choosing).create({"depth": -1}, **SIZES)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"arity": 0}, "arity: .*0"),
        ({"arity": "two"}, "arity: .*'two'"),
        ({"gate": None}, "gate: .*None"),
        *(({name: 3}, f"{name}: .*: arity, gate") for name in ("arty", "hidden_size", "kinds")),
    ],
)
def test_a_bad_option_is_refused_by_plugin_and_field(options, said):
    """Where there is no such option, the known ones are named."""
    with pytest.raises(ConfigError, match=rf"options of cell 'fake\.v1': {said}"):
        cell().create(options, **SIZES)


def test_an_option_without_a_default_must_be_given():
    class Strict(FakeCell):
        def __init__(self, *, model_depth: int, free="any"):
            self.arguments = {"model_depth": model_depth, "free": free}

    with pytest.raises(ConfigError, match="model_depth: Field required"):
        cell(Strict).create({}, **SIZES)
    found = cell(Strict).create({"model_depth": 2, "free": [1]}, **SIZES)
    assert found.arguments == {"model_depth": 2, "free": [1]}


def of_no_such_type(self, *, depth: "NoSuchType" = 1): ...  # noqa: F821


def failing(self, *, hidden_size: int):
    raise RuntimeError("no such gate")


def refusing(self):
    raise DataError("expected 2 columns")


@pytest.mark.parametrize(
    ("name", "method", "error", "cause", "said"),
    [
        ("__init__", of_no_such_type, PluginError, NameError, r"'fake\.v1': .*NoSuchType"),
        ("__init__", failing, PluginError, RuntimeError, "'fake.v1' .*RuntimeError: no such gate"),
        ("__init__", refusing, DataError, type(None), "^expected 2 columns$"),
        ("build", classmethod(lambda _, **__: None), PluginError, type(None), "Cell, found None"),
    ],
)
def test_what_goes_wrong_in_a_class_is_named(name, method, error, cause, said):
    """Its own typed errors are kept."""
    with pytest.raises(error, match=said) as caught:
        cell(**{name: method}).create({}, **SIZES)
    assert isinstance(caught.value.__cause__, cause)
