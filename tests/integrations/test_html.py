"""The page of `thinstack predict --html`."""

from html.parser import HTMLParser

import pytest
from drawn import predict

from thinstack.integrations.show.svg import page, svg

BRACKETS = "(1 (3 (2 (2 The) (2 acting)) (3 (2 is) (4 superb))) (1 (2 ,) (1 (2 but) (0 dull))))"


class Reader(HTMLParser):
    """Reads a page, and refuses tags that do not match."""

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.open, self.addresses = [], []
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("count", [0, 1, 3])
def test_it_holds_the_drawing_of_all_sentences_and_needs_no_other_file(count):
    predictions = [predict(BRACKETS), predict("(4 Superb)"), predict("(0 <b>&)")][:count]
    markup = page(predictions)
    assert Reader(markup).addresses == []
    assert markup.startswith("<!DOCTYPE html>\n")
    assert "<b>" not in markup
    assert count == 0 or svg(predictions) in markup
    assert ("no sentences" in markup) == (count == 0)
