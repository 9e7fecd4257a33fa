"""Sets items aside, to report on or to stop early by, and finds items that repeat one another."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def set_aside(
    items: Sequence[Item], count: int, group_of: Callable[[Item], Hashable]
) -> tuple[list[Item], list[Item]]:
    """The items without those set aside, and `count` items set aside at equal distances, from the
    first on; with them all items of their groups."""
    aside = set((np.arange(count) * len(items) // max(count, 1)).tolist())
    return _parted(items, aside, group_of)


def set_aside_share(
    items: Sequence[Item],
    share: float,
    label_of: Callable[[Item], str],
    group_of: Callable[[Item], Hashable],
) -> tuple[list[Item], list[Item]]:
    """The items without those set aside, and the items set aside: a `share` of each class, as near
    as groups allow.

    Items of one group go to the same part. A group counts with the class of its first item. A class
    of two groups or more has at least one set aside, and none loses all its items. They are always
    drawn with the same seed.
    """
    labels = [label_of(item) for item in items]
    by_label: dict[str, list[list[int]]] = defaultdict(list)
    for group in _grouped(items, group_of):
        by_label[labels[group[0]]].append(group)
    left = Counter(labels)
    missing = {label: max(round(share * n), min(1, n - 1)) for label, n in left.items()}
    draw, aside = np.random.default_rng(0), set[int]()

    def take(group: list[int]) -> None:
        counts = Counter(labels[place] for place in group)
        if all(left[label] > count for label, count in counts.items()):
            aside.update(group)
            left.subtract(counts)
            for label, count in counts.items():
                missing[label] -= count

    for label in sorted(by_label):
        groups, before = by_label[label], missing[label]
        drawn = [groups[n] for n in draw.permutation(len(groups)).tolist()]
        for group in drawn:
            if missing[label] > 0 and _brings_nearer(group, labels, missing):
                take(group)
        if 0 < missing[label] == before:
            take(min(drawn, key=len))
    return _parted(items, aside)


def _brings_nearer(group: Sequence[int], labels: Sequence[str], missing: Mapping[str, int]) -> bool:
    """Whether the classes are nearer to the numbers that are `missing` with this group than
    without it."""
    counts = Counter(labels[place] for place in group)
    apart = sum(abs(missing[label] - count) for label, count in counts.items())
    return apart < sum(abs(missing[label]) for label in counts)


def _parted(
    items: Sequence[Item], aside: Collection[int], group_of: Callable[[Item], Hashable] = id
) -> tuple[list[Item], list[Item]]:
    """The items without those at the places `aside`, and the others; with them their groups."""
    groups = {group_of(items[place]) for place in aside}
    parts: tuple[list[Item], list[Item]] = [], []
    for item in items:
        parts[group_of(item) in groups].append(item)
    return parts


def corrected(
    parts: Sequence[Sequence[Item]],
    rows: Sequence[Item],
    group_of: Callable[[Item], Hashable],
    *,
    last: bool,
) -> tuple[list[list[Item]], list[Hashable]]:
    """The parts with further `rows`, and the groups whose items made way for those.

    Rows of a group stand where its first item was, in every part that has the group. Other rows
    come at the end of the first part. `last`: whether only the last row of a group counts.
    """
    fresh = {
        group_of(rows[places[0]]): [rows[place] for place in (places[-1:] if last else places)]
        for places in _grouped(rows, group_of)
    }
    whole, replaced = [list[Item]() for _ in parts], dict[Hashable, None]()
    for part, items in zip(parts, whole, strict=True):
        seen = set[Hashable]()
        for item in part:
            group = group_of(item)
            if group not in fresh:
                items.append(item)
            elif group not in seen:
                seen.add(group)
                items += fresh[group]
        replaced |= dict.fromkeys(seen)
    for group, more in fresh.items():
        whole[0] += [] if group in replaced else more
    return whole, [*replaced]


def is_held_out(text: str, one_in: int) -> bool:
    """Whether a text is among those that are never learnt from: about one of `one_in`, chosen by
    the MD5 digest of its letters a to z alone. So a text is on the same side in every file, with
    other spaces, marks, digits and capitals too."""
    letters = re.sub("[^a-z]", "", text.lower())
    digest = hashlib.md5(letters.encode(), usedforsecurity=False).hexdigest()
    return int(digest, 16) % one_in == 0


def repeated(
    items: Sequence[Item], label_of: Callable[[Item], str], group_of: Callable[[Item], Hashable]
) -> tuple[int, int]:
    """The number of groups of several items, and of such groups whose items have different
    classes."""
    groups = [group for group in _grouped(items, group_of) if len(group) > 1]
    return len(groups), sum(len({label_of(items[n]) for n in group}) > 1 for group in groups)


def _grouped(items: Sequence[Item], group_of: Callable[[Item], Hashable]) -> list[list[int]]:
    """The places of the items, one list for each group."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        groups[group_of(item)].append(place)
    return list(groups.values())
