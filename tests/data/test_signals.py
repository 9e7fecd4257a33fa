"""Ctrl-C and SIGTERM: one message, an exit code, and the handlers that were there."""

import signal

import pytest

from thinstack.data.files.signals import stoppable
from thinstack.errors import StoppedError


@pytest.fixture(autouse=True)
def handlers():
    """The handlers that a command finds, which every test must leave behind."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_an_error_with_the_code_of_shells(number, code):
    left = []

    def work():
        try:
            signal.raise_signal(number)
        except Exception:
            left.append("hidden")
        except BaseException as error:
            error.add_note(" after epoch 2")
            raise
        finally:
            left.append("tidied")

    said = r"^stopped; call again after epoch 2$"
    with pytest.raises(StoppedError, match=said) as caught, stoppable("stopped; call again"):
        work()
    assert caught.value.code == code
    assert left == ["tidied"]


def test_the_second_signal_is_the_systems():
    found = []

    def work():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            found.extend(map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)))

    with pytest.raises(StoppedError), stoppable("stopped"):
        work()
    assert found == [signal.SIG_DFL] * 2


def test_a_signal_that_was_ignored_still_is():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable("stopped"):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_errors_pass():
    with pytest.raises(ValueError, match="mine"), stoppable("stopped"):
        raise ValueError("mine")
