"""`thinstack predict` warns about texts most of whose words the model does not know."""

import pytest


@pytest.mark.parametrize(
    ("texts", "warned"),
    [
        (("\U0001f60d",), "text 0 such as \U0001f60d"),
        (("A good film.", "\U0001f92f \U0001f4a9 ok!"), "text 1 such as \U0001f92f"),
        (("\U0001f621", "\U0001f47f"), "2 texts, the first of them text 0, such as \U0001f621"),
        (("A good film \U0001f60d.", "...", "terrific; zxqvyk"), ""),
    ],
)
@pytest.mark.parametrize("how", [(), ("--jsonl",), ("--json",)])
def test_texts_that_the_model_cannot_read_are_warned_about(cli, texts, warned, how):
    answer = cli("predict", *how, *texts)
    assert answer.code == 0
    assert (warned in answer.err) if warned else (answer.err == "")
    assert "warning" not in answer.out
