"""What tests of the runtime share; nothing changes the models."""

import pytest
from fake_gpu import FakeGpu
from vector_models import write_vector_bundle

import thinstack
from thinstack.runtime import devices
from thinstack.runtime.predictor import Predictor


@pytest.fixture(scope="session")
def predictor(last_word):
    return Predictor(last_word, threads=1)


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    """A model of classes and vectors, see `vector_models`."""
    folder = tmp_path_factory.mktemp("vectors") / "model"
    return thinstack.load(write_vector_bundle(folder).path, threads=1)


@pytest.fixture
def fake(monkeypatch):
    """An onnxruntime that finds GPUs, on a machine of two cores."""
    monkeypatch.setattr(devices, "usable_cores", lambda: 2)
    return FakeGpu(monkeypatch)
