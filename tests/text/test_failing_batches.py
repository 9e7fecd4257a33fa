"""Which results a batch has when some of it fails."""

import signal

import pytest

from thinstack.text.batching import each_part


@pytest.mark.parametrize("culprits", [set(), {0}, {6}, {2, 3}, set(range(7))])
def test_all_but_the_culprits_have_results_in_order(culprits):
    def run(part):
        if bad := sorted(culprits.intersection(part)):
            raise ValueError(*bad)
        return [-each for each in part]

    results = list(each_part(range(7), run, ValueError))
    assert [each for part, _ in results for each in part] == list(range(7))
    failed = {part[0]: result.args for part, result in results if isinstance(result, ValueError)}
    assert failed == {each: (each,) for each in culprits}
    assert all(isinstance(r, ValueError) or r == [-e for e in part] for part, r in results)


def test_other_errors_and_those_of_signal_handlers_go_through():
    def stop(*_):
        raise ValueError("out of time")

    def ask(part):
        signal.raise_signal(signal.SIGALRM)

    with pytest.raises(ZeroDivisionError):
        list(each_part([0, 0], lambda part: 1 // part[0], ValueError))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(ValueError, match="out of time"):
            list(each_part([0], ask, ValueError))
    finally:
        signal.signal(signal.SIGALRM, before)
