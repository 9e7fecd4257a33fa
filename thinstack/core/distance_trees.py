"""Build trees from syntactic distances, for all sentences at once. Each span is split at its
greatest gap (Shen et al. 2018, "Straight to the Tree", Algorithm 1).

Such a tree is the Cartesian tree of the distances: the span of a gap extends to the nearest greater
gap on either side. Doubling finds these gaps in O(log n) rounds of flat operations, so that no step
depends on a choice of the previous one. As in `thinstack.core.schedule`, functions without a loop
are also used for ONNX graphs.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from thinstack.core.schedule import arange, sums_before


class BinaryTrees(NamedTuple):
    """B binary trees over L words and N = 2L - B nodes, in transition order; all (N,) int64."""

    transitions: Tensor  # 0 SHIFT and 1 REDUCE
    depths: Tensor  # the distance of each node from its root
    last: Tensor  # the index of the last word below each node


def trees_of_distances(distances: Tensor, lengths: Tensor, breaks: Tensor) -> BinaryTrees:
    """Build the trees of texts by splitting every span at its greatest gap.

    Gaps between sentences are greater than all gaps within them, so that a text is a tree over the
    trees of its sentences. Distances are limited to -127 to 127, and rounded to 1/16. Ties are
    broken by a scrambled position in the sentence, which yields a tree of logarithmic depth
    (a treap). Remaining ties (4,096 words apart) go to the first gap.

    Args:
        distances: (L,) of the gap after each word; not read after a sentence's last word.
        lengths: (S,) number of words of each sentence, at least 1, L in total.
        breaks: (S,) the break after each sentence, as in a `Forest`. Greater breaks are split
            first, and of equal ones the first.
    """
    keys = gap_keys(distances, lengths.long(), breaks.long())
    line, bounds = two_sided(keys)
    position = arange(line.size(0), keys.device)
    longest = int(most_words(keys, lengths, breaks).max()) if lengths.size(0) > 0 else 0
    maxima, widths = [line], [1]
    while 2 * widths[-1] < longest:
        maxima.append(widen(maxima[-1], position, widths[-1]))
        widths.append(2 * widths[-1])
    nearest = (position - 1).clamp(min=0)
    for k in range(len(widths) - 1, -1, -1):
        nearest = descend(nearest, bounds, maxima[k], widths[k])
    return trees_of_nearest(nearest, line, keys)


def gap_keys(distances: Tensor, lengths: Tensor, breaks: Tensor) -> Tensor:
    """Return keys (L,) that order the gaps as in `trees_of_distances`. The key after a text is
    greater than all others.

    Keys are whole numbers below 2**24, because OpenVINO computes some of them in float32, and in
    onnxruntime 1.31 `Max` of int64 is wrong beyond 2**31.
    """
    ends = torch.cumsum(lengths, 0)
    position = arange(distances.size(0), distances.device)
    last = torch.zeros_like(position).index_fill(0, ends - 1, 1)
    sentence = sums_before(last)
    place = position - sums_before(lengths).index_select(0, sentence)
    # 2531 is 2**12 over the golden ratio, made odd: its multiples are spread evenly modulo 2**12.
    scrambled = (place * 2531) % 4096
    # Rounded, because an LSTM's distances drift over equal words, and a drift would yield a chain.
    sixteenths = torch.round(distances.clamp(-127.0, 127.0) * 16.0).long()
    within = sixteenths * 4096 + scrambled
    # Breaks are above 127 * 16 * 4096 + 4095, the greatest key within a sentence.
    behind = torch.where(breaks > 0, breaks + 8327167, 1 << 23)
    return within.index_copy(0, ends - 1, behind)


def most_words(keys: Tensor, lengths: Tensor, breaks: Tensor) -> Tensor:
    """Return a bound (S,) of the words in each sentence's text: its own if it ends the text."""
    return torch.where(breaks > 0, keys.size(0), lengths)


def two_sided(keys: Tensor) -> tuple[Tensor, Tensor]:
    """Return the key of an end, the keys (L,), and the keys reversed, concatenated (2L + 1,); and
    the bound that a key must reach to end the span of each.

    The nearest key to the left in the second half is the nearest to the right of the gap. On the
    left, an equal key ends a span; on the right, only a greater one.
    """
    end, back = keys[-1:], torch.flip(keys, [0])
    more = torch.minimum(back + 1, end)
    return torch.cat([end, keys, back]), torch.cat([end, keys, more])


def widen(maxima: Tensor, position: Tensor, width: int) -> Tensor:
    """Double the `width` of the `maxima` (2L + 1,) of the keys up to each position."""
    return torch.maximum(maxima, maxima.index_select(0, (position - width).clamp(min=0)))


def descend(nearest: Tensor, bounds: Tensor, maxima: Tensor, width: int) -> Tensor:
    """Move each candidate for the nearest key that reaches its bound, (2L + 1,), to the left. It
    skips the `width` keys up to it if the greatest of them, in `maxima`, is below the bound."""
    smaller = maxima.index_select(0, nearest) < bounds
    return torch.where(smaller, nearest - width, nearest)


def trees_of_nearest(nearest: Tensor, line: Tensor, keys: Tensor) -> BinaryTrees:
    """Build the trees from the places of the nearest greater keys in `line` of `two_sided(keys)`.

    Each node has a closed form. The span of a gap is [left, right]. The nearest key on its left is
    at `left`, that on its right at 2L - `right`, so one sum counts the spans that start and end at
    each word. A word follows one SHIFT for each earlier word, and one REDUCE for each span that
    ends earlier. It precedes the spans that end with it, from the inside out, each one less deep.
    The depth of a word is the number of spans around it.
    """
    words = keys.size(0)
    bounds_of_spans = nearest.masked_select(line < keys[-1:])
    counts = torch.zeros_like(line).index_add(0, bounds_of_spans, torch.ones_like(bounds_of_spans))
    started, ended = counts[:words], torch.flip(counts, [0])[:words]
    position = arange(words, line.device)
    places = position + sums_before(ended)
    none = line.new_zeros([words + bounds_of_spans.size(0) // 2])
    leaves = none.index_copy(0, places, torch.ones_like(position))
    last = torch.cumsum(leaves, 0) - 1
    # A word's depth and position in one sum: ended spans are in both, with opposite signs.
    together = position + torch.cumsum(started, 0)
    depths = together.index_select(0, last) - arange(last.size(0), line.device)
    return BinaryTrees(transitions=1 - leaves, depths=depths, last=last)
