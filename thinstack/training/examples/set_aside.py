"""Sets items aside for evaluation or early stopping, and finds items that repeat one another."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def set_aside(
    items: Sequence[Item], count: int, group_of: Callable[[Item], Hashable]
) -> tuple[list[Item], list[Item]]:
    """Return the remaining items and those set aside: `count` evenly spread items, from the first
    on, with all items of their groups."""
    aside = set((np.arange(count) * len(items) // max(count, 1)).tolist())
    return _parted(items, aside, group_of)


def set_aside_share(
    items: Sequence[Item],
    share: float,
    label_of: Callable[[Item], str],
    group_of: Callable[[Item], Hashable],
) -> tuple[list[Item], list[Item]]:
    """Return the remaining items and those set aside: a `share` of each class, as closely as groups
    permit.

    Items of a group stay together; a group belongs to the class of its first item. At least one
    item is set aside of each class with two or more groups, and no class loses all its items. The
    random draws always have the same seed.
    """
    labels = [label_of(item) for item in items]
    by_label: dict[str, list[list[int]]] = defaultdict(list)
    for group in _grouped(items, group_of):
        by_label[labels[group[0]]].append(group)
    left = Counter(labels)
    missing = Counter({label: max(round(share * n), min(1, n - 1)) for label, n in left.items()})
    draw, aside = np.random.default_rng(0), set[int]()

    def take(group: list[int], *, always: bool = False) -> None:
        counts = Counter(labels[place] for place in group)
        apart = sum(abs(missing[label] - count) for label, count in counts.items())
        nearer = always or apart < sum(abs(missing[label]) for label in counts)
        if nearer and all(left[label] > count for label, count in counts.items()):
            aside.update(group)
            left.subtract(counts)
            missing.subtract(counts)

    for label in sorted(by_label):
        groups, before = by_label[label], missing[label]
        drawn = [groups[n] for n in draw.permutation(len(groups)).tolist()]
        for group in drawn:
            if missing[label] > 0:
                take(group)
        if 0 < missing[label] == before:
            take(min(drawn, key=len), always=True)
    return _parted(items, aside)


def _parted(
    items: Sequence[Item], aside: Collection[int], group_of: Callable[[Item], Hashable] = id
) -> tuple[list[Item], list[Item]]:
    """Separate the items at the indices `aside`, with their groups, from the others."""
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
    """Return the parts with corrected `rows`, and the groups whose items these replace.

    The rows of a group go where its first item was, in every part that has the group. Other rows
    are appended to the first part. `last`: whether only the last row of a group counts.
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
    """Whether a text is among the one in `one_in` that are never used in training, by the MD5
    digest of its letters a to z. Spaces, punctuation, digits and case make no difference, so that a
    text is held out of every file."""
    letters = re.sub("[^a-z]", "", text.lower())
    digest = hashlib.md5(letters.encode(), usedforsecurity=False).hexdigest()
    return int(digest, 16) % one_in == 0


def repeated(
    items: Sequence[Item], label_of: Callable[[Item], str], group_of: Callable[[Item], Hashable]
) -> tuple[int, int]:
    """Return the number of groups with several items, and of those with different classes."""
    groups = [group for group in _grouped(items, group_of) if len(group) > 1]
    return len(groups), sum(len({label_of(items[n]) for n in group}) > 1 for group in groups)


def _grouped(items: Sequence[Item], group_of: Callable[[Item], Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        groups[group_of(item)].append(place)
    return list(groups.values())
