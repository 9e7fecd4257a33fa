"""Specs: names, options and what a builder returns."""

import dataclasses
from functools import partial

import pytest
from pydantic import BaseModel, ConfigDict, Field

from thinstack.errors import ConfigError, DataError, PluginError
from thinstack.plugins import CellSpec, HeadSpec


class Options(BaseModel):
    arity: int = Field(default=2, ge=1)
    gate: str = "sigmoid"


class FakeCell:
    def __init__(self, **arguments: object):
        self.arguments = arguments

    def compose(self) -> None: ...


class FakeHead(FakeCell):
    def loss(self) -> None: ...


def cell(**changes: object) -> CellSpec:
    return CellSpec(**{"name": "fake.v1", "build": FakeCell, "config": Options} | changes)


@pytest.mark.parametrize("name", ["a.v1", "nary_lstm.v12", "x2_y.v0"])
def test_versioned_names_are_taken(name: str) -> None:
    assert cell(name=name).name == name


@pytest.mark.parametrize(
    "name",
    ["", "lstm", "lstm.1", "lstm.v", "Lstm.v1", "2lstm.v1", "tree-lstm.v1", "a.b.v1", "a.v1\n", 3],
)
def test_other_names_are_refused(name: object) -> None:
    with pytest.raises(PluginError, match=r"'my_name\.v1'"):
        cell(name=name)
    with pytest.raises(PluginError, match="head name"):
        HeadSpec(name=name, build=FakeHead, config=Options)


@pytest.mark.parametrize(
    ("field", "value"),
    [("build", None), ("build", "module:f"), ("config", dict), ("config", Options())],
)
def test_a_field_of_the_wrong_type_is_refused(field: str, value: object) -> None:
    with pytest.raises(PluginError, match=rf"'fake\.v1': {field} must be"):
        cell(**{field: value})


def test_specs_are_frozen_and_slotted() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        cell().name = "other.v1"
    assert not hasattr(cell(), "__dict__")


def test_a_build_with_keywords_gets_all_sizes_and_validated_options() -> None:
    sizes = {"input_size": 5, "inner_size": 4, "hidden_size": 7, "kinds": 3}
    arguments = cell().create({"arity": "3"}, **sizes).arguments
    options = arguments.pop("options")
    assert arguments == sizes
    assert isinstance(options, Options)
    assert (options.arity, options.gate) == (3, "sigmoid")
    arguments = cell().create({}, input_size=5, hidden_size=7).arguments
    assert (arguments["inner_size"], arguments["kinds"]) == (0, 1)

    spec = HeadSpec(name="fake.v1", build=FakeHead, config=Options)
    sizes = {"hidden_size": 7, "word_size": 4, "classes": 2}
    arguments = spec.create({"gate": "tanh"}, **sizes).arguments
    assert arguments.pop("options").gate == "tanh"
    assert arguments == sizes
    assert spec.create({}, hidden_size=7, classes=2).arguments["word_size"] == 0


def test_a_build_gets_the_keywords_that_it_names() -> None:
    def few(hidden_size: int, *, kinds: int) -> FakeCell:
        return FakeCell(hidden_size=hidden_size, kinds=kinds)

    def some(*, word_size: int, options: Options, scale: float = 2.0) -> FakeHead:
        return FakeHead(word_size=word_size, gate=options.gate, scale=scale)

    class Named(FakeCell):
        def __init__(self, *, inner_size: int):
            super().__init__(inner_size=inner_size)

    sizes = {"input_size": 5, "inner_size": 4, "hidden_size": 7, "kinds": 3}
    assert cell(build=few).create({}, **sizes).arguments == {"hidden_size": 7, "kinds": 3}
    assert cell(build=Named).create({}, **sizes).arguments == {"inner_size": 4}
    assert cell(build=partial(few, kinds=9)).create({}, **sizes).arguments == {
        "hidden_size": 7,
        "kinds": 3,
    }
    head = HeadSpec(name="fake.v1", build=some, config=Options).create(
        {}, hidden_size=7, word_size=4, classes=2
    )
    assert head.arguments == {"word_size": 4, "gate": "sigmoid", "scale": 2.0}


def test_options_are_validated_even_if_build_does_not_ask_for_them() -> None:
    with pytest.raises(ConfigError, match=r"'fake\.v1': arity: "):
        cell(build=lambda hidden_size: FakeCell()).create({"arity": 0}, input_size=1, hidden_size=1)


def test_a_build_that_wants_what_there_is_not_is_named() -> None:
    def build(*, hidden_size: int, depth: int) -> FakeCell:
        return FakeCell(hidden_size=hidden_size, depth=depth)

    with pytest.raises(
        PluginError, match=r"cell 'fake\.v1' could not be built: TypeError: .*'depth'"
    ):
        cell(build=build).create({}, input_size=1, hidden_size=1)


@pytest.mark.parametrize(
    ("options", "field"),
    [({"arity": 0}, "arity"), ({"arity": "two"}, "arity"), ({"gate": None}, "gate")],
)
def test_a_bad_option_is_refused_by_plugin_and_field(options: dict, field: str) -> None:
    with pytest.raises(ConfigError, match=rf"options of cell 'fake\.v1': {field}: ") as caught:
        cell().create(options, input_size=1, hidden_size=1)
    assert repr(options[field]) in str(caught.value)


def test_an_unknown_option_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ConfigError, match=r"'fake\.v1': arty: .*known options: arity, gate"):
        cell().create({"arty": 3}, input_size=1, hidden_size=1)


def test_an_alias_is_a_known_option() -> None:
    class Aliased(BaseModel):
        arity: int = Field(alias="N")

    assert cell(config=Aliased).parse({"N": 3}).arity == 3
    with pytest.raises(ConfigError, match="N: Field required"):
        cell(config=Aliased).parse({})


def test_a_config_may_ask_for_options_it_does_not_know() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    assert cell(config=Open).parse({"anything": 1}).anything == 1


def test_a_builder_that_raises_is_named() -> None:
    def build(**_: object) -> None:
        raise RuntimeError("no such gate")

    with pytest.raises(
        PluginError, match=r"cell 'fake\.v1' could not be built: RuntimeError: no such gate"
    ) as caught:
        cell(build=build).create({}, input_size=1, hidden_size=1)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_builders_own_typed_error_is_kept() -> None:
    def build(**_: object) -> None:
        raise DataError("expected 2 columns")

    with pytest.raises(DataError, match=r"^expected 2 columns$"):
        cell(build=build).create({}, input_size=1, hidden_size=1)


def test_a_builder_must_return_what_its_spec_promises() -> None:
    with pytest.raises(PluginError, match=r"must return a thinstack\.core\.cell\.Cell, found None"):
        cell(build=lambda **_: None).create({}, input_size=1, hidden_size=1)
    spec = HeadSpec(name="fake.v1", build=FakeCell, config=Options)
    with pytest.raises(PluginError, match=r"must return a thinstack\.core\.head\.TaskHead"):
        spec.create({}, hidden_size=1, classes=2)
