"""The drawing of trees by the rules of docs/drawing.md, written from these alone."""

import re
from collections.abc import Sequence
from html import escape

from thinstack.core.transitions import parents_of, spans_of
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.tones import tones_of

CAPITALS = "ABCDEFGHJKLNOPQRSTUVXYZ"
WIDTHS = {5: "ijlI.,:;'!|`", 7: 'frt()[]{}-"/\\* ', 11: f"{CAPITALS}&#$+=<>~", 15: "mwMW@%"}
WIDTH = {char: width for width, chars in WIDTHS.items() for char in chars}
NOTHING = [range(0x300, 0x370), range(0x200B, 0x2010), range(0xFE00, 0xFE10)]
WIDE = [range(0x1100, 0x1160), range(0x2600, 0x27C0), range(0x2E80, 0x110000)]
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")
MARKS = [("−−", "#9a3b00", "#ffffff"), ("−", "#fbc999", "#3d1a00"), ("0", "#e4e7ea", "#2b3037")]
MARKS += [("+", "#b3d6f7", "#062848"), ("++", "#0b559f", "#ffffff")]


def visible(text: str) -> str:
    line = " ".join(text.split())
    return UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), line)


def elided(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def escaped(text: str) -> str:
    return escape(text, quote=False).replace('"', "&quot;")


def width(text: str) -> int:
    return sum(WIDTH[char] if char in WIDTH else other_width(ord(char)) for char in text)


def other_width(code: int) -> int:
    if any(code in block for block in NOTHING):
        return 0
    return 16 if any(code in block for block in WIDE) else 9


def drawn(sentences: Sequence[Prediction]) -> str:
    """One SVG image of the trees of these sentences."""
    parts, widest, bottom = [], 0, 12
    for number, sentence in enumerate(sentences):
        text, right, bottom = drawn_sentence(sentence, bottom + (24 if number else 0))
        parts.append(text)
        widest = max(widest, right)
    if sentences and tones_of(sentences[0].labels) is None:
        labels = enumerate(sentences[0].labels, 1)
        legend = visible(", ".join(f"{number} {label}" for number, label in labels))
        at = f'x="12" y="{bottom + 24}" text-anchor="start"'
        parts.append(f'<text {at} fill="currentColor">{escaped(legend)}</text>\n')
        widest, bottom = max(widest, width(legend)), bottom + 29
    size, name = (widest + 24, bottom + 12), f"The trees of {len(sentences)} sentences"
    name = "The tree of a sentence" if len(sentences) == 1 else name
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" role="group" aria-label="{name}" '
        f'font-family="sans-serif" font-size="15" text-anchor="middle">\n{"".join(parts)}</svg>\n'
    )


def drawn_sentence(sentence: Prediction, top: int) -> tuple[str, int, int]:
    """A sentence, how wide it is and where it ends."""
    words = [elided(visible(sentence.text_of(i, i + 1)), 30) for i in range(len(sentence.words))]
    place, middles = 12, []
    for word in words:
        column = max(width(word), 24)
        middles.append(place + column // 2)
        place += column + 14
    nodes, lines, base = placed(sentence, middles, top)
    label = visible(sentence.label or "uncertain")
    head = escaped(f"{label}: {elided(visible(sentence.text), 120)}")
    path = f'<path d="{lines}" fill="none" stroke="currentColor" stroke-opacity="0.5"/>\n'
    spans = spans_of(sentence.transitions) if sentence.transitions.size else sentence.spans
    order = sorted(range(len(nodes)), key=lambda node: (spans[node][0], -node))
    below = zip(middles, words, strict=True)
    texts = [f'<text x="{x}" y="{base + 28}">{escaped(word)}</text>\n' for x, word in below]
    text = (
        f'<g role="group" aria-label="{head}">\n{path if lines else ""}'
        f"{''.join(circle(sentence, node, spans[node], *nodes[node]) for node in order)}"
        f'<g fill="currentColor" aria-hidden="true">\n{"".join(texts)}</g>\n</g>\n'
    )
    return text, place - 26, base + 40


def placed(
    sentence: Prediction, middles: list[int], top: int
) -> tuple[list[tuple[int, int]], str, int]:
    """The places of the nodes, the lines between them, and the height of the words' circles."""
    steps = sentence.transitions
    if not steps.size:
        return [((middles[0] + middles[-1]) // 2, top + 12)], "", top + 12
    parents, slots = parents_of(steps)
    below: dict[int, dict[int, int]] = {}
    for node, (parent, slot) in enumerate(zip(parents.tolist(), slots.tolist(), strict=True)):
        below.setdefault(parent, {})[slot] = node
    levels, xs, following = [], [], iter(middles)
    for node in range(len(steps)):
        parts = below.get(node, {}).values()
        levels.append(1 + max(levels[part] for part in parts) if parts else 0)
        xs.append(sum(xs[part] for part in parts) // 2 if parts else next(following))
    base = top + 12 + 36 * levels[-1]
    nodes = [(x, base - 36 * level) for x, level in zip(xs, levels, strict=True)]
    lines = ""
    for node, (x, y) in enumerate(nodes):
        if node in below:
            (left_x, left_y), (right_x, right_y) = (nodes[below[node][slot]] for slot in (0, 1))
            lines += f"M{left_x} {left_y}V{y + 36}L{x} {y}L{right_x} {y + 36}V{right_y}"
    return nodes, lines, base


def circle(sentence: Prediction, node: int, span: Sequence[int], x: int, y: int) -> str:
    """A node: a circle with a sign, or a dot where it has no scores."""
    if sentence.transitions.size and not sentence.phrases:
        if node < len(sentence.transitions) - 1:
            return f'<circle cx="{x}" cy="{y}" r="3" fill="currentColor"/>\n'
        node = 0
    row, certain = sentence.scores[node].tolist(), bool(sentence.certain[node])
    best, tones = int(sentence.label_ids[node]), tones_of(sentence.labels)
    mark = MARKS[tones[best] if tones and certain else 2]
    sign = mark[0] if tones else str(best + 1)
    named = zip(sentence.labels, row, strict=True)
    shares = ", ".join(f"{visible(name)} {int(100 * share + 0.5)}%" for name, share in named)
    label = visible(sentence.labels[best]) if certain else "uncertain"
    title = f"{label}: {elided(visible(sentence.text_of(*span)), 120)} ({shares})"
    at = f'x="{x}" y="{y + 5}"'
    return (
        f'<g role="img"><title>{escaped(title)}</title><circle cx="{x}" cy="{y}" r="12" '
        f'fill="{mark[1]}" stroke="#5a626d"/><text {at} fill="{mark[2]}">'
        f"{sign if certain else '?'}</text></g>\n"
    )
