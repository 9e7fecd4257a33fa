"""The models of aspects that are distributions of their own."""

import pytest
from bundle.shipped_models import model_of

import thinstack
from thinstack.integrations.report.reading import model_name


@pytest.fixture(scope="module", params=["aspects", "aspects-small"])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def predictor(name):
    return thinstack.load(model_of(name), threads=1)


def test_it_finds_terms_and_what_is_said_of_them(predictor):
    battery, camera = predictor("The battery is terrible, but the camera is gorgeous.").aspects
    assert (battery.text, battery.label, battery.because.text) == (
        "battery",
        "negative",
        "is terrible",
    )
    assert (camera.text, camera.label, camera.because.text) == ("camera", "positive", "is gorgeous")
    assert predictor("I bought it in May and used it for a week.").aspects == ()


def test_what_is_asked_about(predictor):
    said = predictor("We loved the rooms, but the wifi never worked.").about("room", "wifi|network")
    assert [(each.text, each.label) for each in said] == [
        ("rooms", "positive"),
        ("wifi", "negative"),
    ]


def test_a_report_says_which_model_has_read(name, predictor):
    assert model_name(predictor) == name
