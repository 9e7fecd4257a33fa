"""Tables of reviews in which eight complaints are planted, each in many words and in a share of the
rows that is known. The complaints of the sets `tried` and `seen` were looked at while the limits of
themes were chosen, those of `measured` were not."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

ROWS: Final = 2000
STARS: Final = 4  # of a review that complaints are planted in, at least


class Complaint(NamedTuple):
    """A complaint.

    Attributes:
        words: a theme that is named with one of them is named well.
        share: of the rows that have it.
        subjects, predicates, ends: parts of a sentence, which are combined.
    """

    words: tuple[str, ...]
    share: float
    subjects: tuple[str, ...]
    predicates: tuple[str, ...]
    ends: tuple[str, ...] = (".", "!", ", which is annoying.", ".")

    def sentences(self) -> list[str]:
        """All ways to say it."""
        parts = product(self.subjects, self.predicates, self.ends)
        return [f"{subject} {predicate}{end}" for subject, predicate, end in parts]


TRIED: Final = (
    Complaint(
        ("late", "delivery", "delivered", "weeks", "shipping", "arrived"),
        0.10,
        ("The delivery", "My parcel", "Shipping", "The package", "The courier"),
        (
            "was two weeks late",
            "arrived far too late",
            "took forever",
            "came a week after the date",
        ),
    ),
    Complaint(
        ("box", "packaging", "damaged", "crushed", "dented"),
        0.08,
        ("The box", "The packaging", "The carton", "Its box"),
        ("was crushed", "came damaged", "was torn open and dented", "was badly damaged"),
    ),
    Complaint(
        ("charger", "cable", "adapter", "missing"),
        0.07,
        ("The charger", "The power cable", "The adapter", "A charging cable"),
        ("was missing", "was not in there", "is missing", "was not included"),
    ),
    Complaint(
        ("battery", "charge", "drains", "dies"),
        0.09,
        ("The battery", "Battery life", "The charge", "Its battery"),
        ("dies after an hour", "is terrible", "drains much too fast", "does not last a day"),
    ),
    Complaint(
        ("app", "crashes", "freezes", "phone"),
        0.06,
        ("The app", "The phone app", "Their app", "The application"),
        ("crashes all the time", "keeps freezing", "never loads", "crashed on me twice"),
    ),
    Complaint(
        ("support", "customer", "service", "answer", "reply"),
        0.05,
        ("Customer service", "Their support", "The help line", "The support team"),
        ("never answered", "was rude to me", "did not reply to my mails", "was useless"),
    ),
    Complaint(
        ("smell", "smells", "plastic", "odor", "stinks"),
        0.04,
        ("It", "The case", "The whole thing", "The plastic"),
        ("smells awful", "has a nasty chemical smell", "stinks", "gives off a horrible odor"),
    ),
    Complaint(
        ("fees", "charged", "subscription", "fee", "bill"),
        0.05,
        ("A hidden fee", "An extra subscription charge", "A monthly fee", "An unexpected charge"),
        ("was put on my bill", "showed up on my card", "was taken without warning", "was added"),
        (".", ", which is a rip-off.", ", and that is dishonest."),
    ),
)

SEEN: Final = (
    Complaint(
        ("refund", "money", "return", "returned"),
        0.07,
        ("My refund", "The refund", "The money for my return", "A refund"),
        ("was refused", "never came", "took two months", "has still not been paid"),
    ),
    Complaint(
        ("fan", "noise", "noisy", "loud", "hum", "humming"),
        0.09,
        ("The fan", "The cooling fan", "The motor", "Its little fan"),
        ("is much too loud", "makes a horrible noise", "hums all night", "rattles and whines"),
    ),
    Complaint(
        ("manual", "instructions", "guide", "booklet"),
        0.06,
        ("The manual", "The instruction booklet", "The user guide", "The printed manual"),
        ("is impossible to follow", "makes no sense", "is badly translated", "was useless"),
    ),
    Complaint(
        ("scratch", "scratches", "scratched", "glass"),
        0.08,
        ("The glass", "The front glass", "The cover glass", "Its surface"),
        ("scratches far too easily", "was scratched after a day", "came full of scratches"),
    ),
    Complaint(
        ("hot", "heat", "overheats", "overheated", "overheating", "burning", "burn"),
        0.05,
        ("The unit", "The base", "The power supply", "The thing"),
        ("overheats", "gets dangerously hot", "got so hot that it burned me", "runs far too hot"),
    ),
    Complaint(
        ("color", "wrong", "pink", "red", "ordered"),
        0.05,
        ("They sent", "I received", "I was sent", "The seller shipped"),
        ("the wrong color", "a pink one when I ordered blue", "the wrong color again"),
    ),
    Complaint(
        ("password", "login", "log", "account", "sign"),
        0.06,
        ("My password", "The login", "The account login", "The sign-in page"),
        ("was rejected every time", "does not work", "fails with an error", "locked me out"),
    ),
    Complaint(
        ("hinge", "broke", "broken", "snapped", "lid"),
        0.10,
        ("The hinge", "The lid hinge", "The plastic hinge", "The hinge of the lid"),
        ("broke after a week", "snapped off", "is broken already", "cracked on day one"),
    ),
)

MEASURED: Final = (
    Complaint(
        ("small", "size", "sizes", "tight", "fit"),
        0.08,
        ("The jacket", "This shirt", "The medium", "My usual size"),
        ("is far too small", "is so tight that I cannot breathe", "does not fit me at all"),
    ),
    Complaint(
        ("color", "faded", "fades", "wash", "washed"),
        0.07,
        ("The color", "The blue", "The print", "Its color"),
        ("faded after one wash", "washed out completely", "ran in the first wash"),
    ),
    Complaint(
        ("zip", "zipper", "stuck"),
        0.09,
        ("The zipper", "The zip", "Its front zip", "The zipper of the pocket"),
        ("gets stuck all the time", "broke on day two", "will not close", "is a disaster"),
    ),
    Complaint(
        ("itchy", "itches", "fabric", "scratchy", "rough"),
        0.05,
        ("The fabric", "The wool", "The material", "The lining"),
        ("is horribly itchy", "feels rough and scratchy", "makes my skin itch"),
    ),
    Complaint(
        ("button", "buttons"),
        0.06,
        ("A button", "The top button", "Two of the buttons", "The buttons"),
        ("fell off at once", "came loose the first day", "were badly sewn on"),
    ),
    Complaint(
        ("price", "overpriced", "expensive", "costs"),
        0.06,
        ("The price", "What they charge", "The cost", "Such a price"),
        ("is outrageous", "is far too high", "is a rip-off"),
    ),
    Complaint(
        ("parking", "park", "car"),
        0.10,
        ("Parking", "The car park", "Finding a place to park", "Their parking lot"),
        ("is a nightmare", "was impossible", "is always a mess", "took us half an hour"),
    ),
    Complaint(
        ("wifi", "internet", "network"),
        0.05,
        ("The wifi", "Their internet", "The hotel wifi", "The internet in our room"),
        ("kept dropping", "was terribly slow", "did not work", "is awful"),
    ),
)

SETS: Final = {"tried": TRIED, "seen": SEEN, "measured": MEASURED}


class PlantedTable(NamedTuple):
    """Texts, and the numbers of the complaints that were planted in each."""

    texts: list[str]
    planted: list[frozenset[int]]

    def share(self, complaint: int) -> float:
        """Of the rows that have a complaint."""
        return sum(complaint in numbers for numbers in self.planted) / len(self.texts)


def planted_table(data: Path, complaints: Sequence[Complaint], seed: int = 0) -> PlantedTable:
    """Rows of `data`, reviews of many stars, of which each has none, one or two complaints."""
    rng = random.Random(seed)
    texts = rng.sample(list(_reviews(data)), ROWS)
    planted = [set[int]() for _ in texts]
    for number, complaint in enumerate(complaints):
        sentences = complaint.sentences()
        for row in rng.sample(range(ROWS), round(complaint.share * ROWS)):
            planted[row].add(number)
            texts[row] = _with(texts[row], rng.choice(sentences), rng)
    return PlantedTable(texts, [frozenset(numbers) for numbers in planted])


def _reviews(data: Path) -> Iterator[str]:
    for line in (data / "domains/alexa-reviews.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["stars"] >= STARS and row["text"].strip():
            yield row["text"].strip()
    for line in (data / "domains/customer-reviews.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["label"] == "positive" and row["text"].strip():
            yield row["text"].strip()


def _with(text: str, sentence: str, rng: random.Random) -> str:
    text = text if text[-1] in ".!?" else f"{text}."
    return f"{sentence} {text}" if rng.random() < 0.5 else f"{text} {sentence}"
