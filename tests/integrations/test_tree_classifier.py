"""`tree_classifier` in spaCy: what it learns, sets and saves."""

import importlib
import pickle
import tomllib
from pathlib import Path

import pytest
import spacy
import torch
from learning_pipeline import CLASSES, examples, learn, pipeline
from spacy import ty
from spacy.language import Language
from spacy.training import Example

from thinstack.bundle.weights import load_model, state_of
from thinstack.errors import ConfigError, DataError, InputError

TEXT = "The film is dull. It is a good and fine plot, good."


def initialized(start, **settings):
    torch.manual_seed(0)
    nlp = pipeline(start, **settings)
    given = examples(nlp)
    nlp.initialize(lambda: given)
    return nlp


@pytest.fixture
def nlp(start):
    return initialized(start)


def weights(nlp):
    learner = nlp.get_pipe("tree_classifier").model
    return {name: value.clone() for name, value in state_of(learner._learner.model).items()}


def test_it_learns_in_spacys_own_loop(nlp):
    threads = torch.get_num_threads()
    losses = learn(nlp, examples(nlp), passes=20)
    assert torch.get_num_threads() == threads
    assert losses[-1] < 0.7 * losses[0]
    figures = nlp.evaluate(examples(nlp, seed=1))
    assert figures["cats_micro_f"] > 0.9
    assert figures["cats_score_desc"] == "macro F"
    component = nlp.get_pipe("tree_classifier")
    assert isinstance(component, ty.TrainableComponent)
    assert isinstance(component, ty.InitializableComponent)


def test_gradients_add_up_until_the_weights_move(nlp):
    component, given, before = nlp.get_pipe("tree_classifier"), examples(nlp), weights(nlp)
    component.update(given[:8], losses={})
    table = component.model._learner.model.embedding.table
    once = table.grad.to_dense().clone()
    component.update(given[:8], losses={})
    assert float(table.grad.to_dense().norm()) > 1.2 * float(once.norm())
    assert all(torch.equal(value, before[name]) for name, value in weights(nlp).items())
    component.finish_update(None)
    moved = {name for name, value in weights(nlp).items() if not torch.equal(value, before[name])}
    assert moved == {name for name in before if not name.startswith("encoder.parser.")}
    parameters = component.model._learner.model.named_parameters()
    held = {name for name, one in parameters if not one.requires_grad}
    assert held == before.keys() - moved
    assert table.grad is None
    component.finish_update(None)  # nothing was learnt since
    assert component.model._steps == 1


@pytest.mark.parametrize(
    ("average", "shares"),
    [(0.0, (0, 0, 0, 1)), (1.0, (1 / 4, 1 / 4, 1 / 4, 1 / 4)), (0.5, (0, 1 / 6, 1 / 3, 1 / 2))],
)
def test_what_is_scored_and_saved_is_a_mean_of_the_last_weights(start, tmp_path, average, shares):
    nlp = initialized(start, average=average)
    given, seen = examples(nlp), []
    for at in range(4):
        learn(nlp, given[8 * at : 8 * at + 8])
        seen.append(weights(nlp))
    nlp.to_disk(tmp_path)
    for name, value in state_of(load_model(tmp_path / "tree_classifier")).items():
        mean = sum(share * each[name] for share, each in zip(shares, seen, strict=True))
        torch.testing.assert_close(value, mean, rtol=1e-5, atol=1e-6)
    loaded = spacy.load(tmp_path)
    assert loaded(TEXT).cats == pytest.approx(nlp(TEXT).cats, abs=1e-6)
    again = pipeline(start).from_bytes(nlp.to_bytes())
    assert again(TEXT).cats == loaded(TEXT).cats
    component = pickle.loads(pickle.dumps(nlp.get_pipe("tree_classifier")))
    assert component.labels == CLASSES
    assert component(nlp.make_doc("It is good")).cats == nlp("It is good").cats


def test_one_that_was_saved_goes_on_as_if_it_never_was(start, tmp_path):
    nlp = initialized(start, average=0)
    given = examples(nlp)
    learn(nlp, given)
    nlp.to_disk(tmp_path)
    found = []
    for each in (nlp, spacy.load(tmp_path)):
        torch.manual_seed(1)  # of dropout
        learn(each, given)
        found.append(weights(each))
    for name, value in found[0].items():
        torch.testing.assert_close(found[1][name], value)


def test_a_document_has_the_mean_of_its_sentences_by_words(nlp):
    learn(nlp, examples(nlp))
    first, second = "The film is dull.", "It is a good and fine plot, good."
    one, other, both, nothing = (doc.cats for doc in nlp.pipe([first, second, TEXT, " \n"]))
    assert both == pytest.approx({name: (5 * one[name] + 10 * other[name]) / 15 for name in one})
    assert sum(both.values()) == pytest.approx(1)
    assert nothing == {"down": 0.0, "up": 0.0}


def test_what_is_no_example_is_left_out(nlp):
    component, before = nlp.get_pipe("tree_classifier"), weights(nlp)
    docs = [("", {"up": 1.0}), ("It is good", {}), ("It is good", {"up": 0.0, "down": 0.0})]
    given = [Example.from_dict(nlp.make_doc(text), {"cats": cats}) for text, cats in docs]
    assert nlp.update(given) == {"tree_classifier": 0.0}
    assert all(torch.equal(value, before[name]) for name, value in weights(nlp).items())
    assert component.is_trainable


def test_classes_are_found_or_given(start):
    def found(labels, *added):
        nlp = pipeline(start)
        component, given = nlp.get_pipe("tree_classifier"), examples(nlp)
        assert [component.add_label(label) for label in added] == [1] * len(added)
        component.initialize(lambda: given, nlp=nlp, labels=labels)
        assert component.label_data == list(component.labels)
        assert component.add_label("up") == 0
        with pytest.raises(InputError, match="'more', add it before"):
            component.add_label("more")
        return component.labels

    assert found(None) == ("down", "up")
    assert found(None, "odd", "up") == ("odd", "up", "down")
    assert found(["up", "so-so", "down"]) == ("up", "so-so", "down")


@pytest.mark.parametrize(
    ("cats", "problem"),
    [
        ({}, "two classes or more in doc.cats, found none"),
        ({"up": 1.0}, "two classes or more in doc.cats, found 'up'"),
        ({0: False, 1: True}, r"strings as keys of doc\.cats, found 0: .*'0'"),
        ({"up": "yes", "down": "no"}, r"expected numbers in doc\.cats, found 'yes' for 'up'"),
        ({"up": 1.0, "down": None}, r"expected numbers in doc\.cats, found None for 'down'"),
        ({"up": 1.0, "down": 1.0}, "expected one class .* found up, down; .*textcat_multi"),
    ],
)
def test_examples_that_teach_no_classes(start, cats, problem):
    nlp = pipeline(start)
    with pytest.raises(InputError, match=problem):
        nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("It is"), {"cats": cats})])


@pytest.mark.parametrize("odd", ["NULL", "up\u200b", "Up"])
def test_classes_that_are_none_are_named_unless_they_are_given(start, odd):
    nlp = pipeline(start)
    cats = [{"up": 1.0, "down": 0.0}, {odd: 1.0}]
    given = [Example.from_dict(nlp.make_doc("It is"), {"cats": each}) for each in cats]
    component = nlp.get_pipe("tree_classifier")
    with pytest.raises(DataError) as raised:
        component.initialize(lambda: given, nlp=nlp)
    assert ascii(odd) in raised.value.args[0]
    assert "[initialize.components.tree_classifier.labels]" in raised.value.args[0]
    component.initialize(lambda: given, nlp=nlp, labels=["up", "down", odd])
    assert component.labels == ("up", "down", odd)


def test_a_class_that_came_late_and_settings_that_cannot_be(nlp, start):
    component = pipeline(start).get_pipe("tree_classifier")
    for labels in ([0, 1], "up"):
        with pytest.raises(InputError, match=r"found (0|'up')"):
            component.initialize(lambda: examples(nlp), labels=labels)
    late = Example.from_dict(nlp.make_doc("It is"), {"cats": {"new": 1.0}})
    problem = r"one of down, up in doc.cats, found 'new'; .*initialize.components.tree_classifier"
    with pytest.raises(InputError, match=problem):
        nlp.update([late])
    for name, value in {"average": 1.5, "learning_rate": -1.0}.items():
        with pytest.raises(ConfigError, match=name):
            pipeline(start, **{name: value}).initialize(lambda: examples(nlp))


def test_a_blank_one_says_what_to_do_and_can_be_saved(start, tmp_path):
    nlp = pipeline(start)
    nlp.to_disk(tmp_path)
    for blank in (nlp, spacy.load(tmp_path), pipeline(start).from_bytes(nlp.to_bytes())):
        with pytest.raises(InputError, match="no model yet; train the component with `spacy"):
            blank("It is good")


def test_where_learning_starts(start):
    own, names = pipeline(start), ("bad", "so-so", "good")
    own.get_pipe("tree_classifier").initialize(lambda: examples(own), labels=names)
    learner = own.get_pipe("tree_classifier").model
    assert learner.config.labels == names
    assert learner.task.keeps_start  # as `thinstack train` has it then
    head = state_of(load_model(start))["head.linear.weight"]
    assert torch.equal(weights(own)["head.linear.weight"], head)
    fresh = initialized("none")
    config = fresh.get_pipe("tree_classifier").model.config
    assert (config.parser, config.tree_source, config.labels) == (None, "balanced", CLASSES)
    learn(fresh, examples(fresh, 8))


def test_spacy_finds_what_entry_points_name():
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, place in project["entry-points"]["spacy_factories"].items():
        module, _, function = place.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
        assert Language.get_factory_meta(name).factory == name
