"""Holds templates of short English sentences to negate phrases in, and everyday words to fill them
with.

A template is a sentence with slots in braces. Words joined by `~` form a phrase, and so do words
between `(` and `)`. Words side by side branch to the right. The slots are:

- `{s}`: a subject. The verbs `{is}`, `{was}`, `{does}`, `{has}` and `{feels}` agree with it.
- `{p}`: a person who speaks or acts. `{d}`: a verb phrase that says what such a person does.
- `{c}`: a complement, which may follow "is". `{a}`: an adjective. `{x}`: an adjective of the
  opposite polarity.
- `{v}`: a verb phrase in its base form.
- `{n}`: a noun phrase with "a" or "an". `{b}`: a noun phrase without an article.
"""

from typing import Final

__all__ = ["EVERYDAY", "INFLECTED", "MANY", "PEOPLE", "TEMPLATES", "THINGS"]

THINGS: Final = (
    ("the film", "this movie", "the ending", "her acting", "the script", "the second season"),
    ("the soup", "my steak", "dessert", "the coffee", "this restaurant", "dinner"),
    ("the room", "our hotel", "breakfast", "the pool", "the bathroom", "the view"),
    ("my phone", "the screen", "the battery", "this charger", "the camera", "the sound"),
    ("the app", "this update", "their website", "the new version", "setting it up"),
    ("the book", "this novel", "the plot", "the last chapter", "his writing", "the map"),
    ("the service", "the waiter", "the nurse", "support", "the delivery", "the doctor"),
    ("this shop", "the price", "the jacket", "the fabric", "the mattress", "the lamp"),
    ("the flight", "the crew", "check-in", "the train", "the driver", "the tour"),
    ("the weather", "the beach", "our holiday", "the morning", "the town", "the walk"),
    ("that colour", "his music", "her voice", "the song", "the smell", "the design"),
    ("it", "it", "this", "that", "he", "she", "everything", "the whole thing", "my first one"),
)
"""Subjects in the singular, by field."""

MANY: Final = (
    *("the jokes", "the actors", "the drinks", "the portions", "the beds", "the photos"),
    *("the menus", "the characters", "the staff", "these shoes", "the seats", "the rooms"),
    *("the instructions", "they", "the songs", "the rules", "their prices", "the lessons"),
)
"""Subjects in the plural."""

PEOPLE: Final = (
    *("i", "i", "we", "you", "my wife", "my husband", "my parents", "the guests", "our kids"),
    *("most people", "my friend", "the team"),
)

INFLECTED: Final = {
    "{is}": ("is", "are"),
    "{was}": ("was", "were"),
    "{does}": ("does", "do"),
    "{has}": ("has", "have"),
    "{feels}": ("feels", "feel"),
}

EVERYDAY: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "a": (
        (
            *("bad", "rude", "slow", "dirty", "noisy", "broken", "boring", "cold", "bland"),
            *("expensive", "confusing", "ugly", "late", "terrible", "useless", "stressful"),
        ),
        (
            *("good", "friendly", "fast", "clean", "quiet", "reliable", "fun", "warm", "tasty"),
            *("cheap", "clear", "pretty", "helpful", "great", "comfortable", "safe"),
        ),
    ),
    "v": (
        ("break", "crash", "bore us", "smell", "fall apart", "go wrong", "annoy me", "hurt"),
        ("work", "help", "last", "fit", "impress me", "taste good", "make sense", "improve"),
    ),
    "n": (
        (
            *("a problem", "a mistake", "a mess", "a rip-off", "a failure", "a nightmare"),
            *("a disaster", "a bad choice", "a waste of time", "an insult"),
        ),
        (
            *("a bargain", "a success", "a pleasure", "a masterpiece", "a good idea"),
            *("a success story", "a great deal", "a treat", "an improvement"),
        ),
    ),
    "d": (
        (
            *("regret it", "complain", "send it back", "ask for a refund", "fall asleep"),
            *("leave early", "hate it", "waste our time", "worry", "wait long", "get sick"),
        ),
        (
            *("recommend it", "come back", "buy it again", "stay longer", "trust them"),
            *("enjoy it", "laugh", "feel welcome", "sleep well", "like it", "go there again"),
        ),
    ),
}
"""For each slot, everyday fillers that are no phrases of the treebank: bad ones, then good ones."""

COMPLEMENTS: Final = (
    *("{s} {was}~not {c} .", "{s} {was}~n't {c} .", "{s} {is}~n't {c} .", "{s} {is}~not {c} ."),
    *("{s} {is}~n't ( {c} at~all ) .", "{s} {was}~not ( {c} at~all ) .", "{s} {was}~never {c} ."),
    *("{s} {is}~hardly {c} .", "{s} {was}~barely {c} .", "{s} {is} far from {c} ."),
    *("{s} {was} anything but {c} .", "{s} {was}~not exactly {c} .", "{s} {is}~no~longer {c} ."),
    *("{s} {has}~never been {c} .", "{s} {has}~n't been {c} .", "{s} wo~n't be {c} ."),
    *("{s} will~not be {c} .", "{s} would~n't be {c} .", "{s} ca~n't be {c} ."),
    *("i do~n't think {s} {is} {c} .", "i would~n't call {s} {c} .", "nobody called {s} {c} ."),
    *("i ca~n't say that {s} {was} {c} .", "we did~n't find {s} {c} .", "{s} did~n't seem {c} ."),
    *("no one could say that {s} {is} {c} .", "{s} {is} by no means {c} .", "not {c} at~all ."),
    *("{s} {was}~not {c} , and neither was the rest .", "{s} {was} not in the least {c} ."),
)
ADJECTIVES: Final = (
    *("{s} could~not be more {a} .", "{s} could~n't have been more {a} .", "not {a} ."),
    *("{s} {is} neither {a} nor {a} .", "{s} {was}~n't {a} , nor {was} it {a} .", "not so {a} ."),
    *("there is nothing {a} about {s} .", "there was nothing {a} here .", "nothing {a} at~all ."),
    *("i found nothing {a} in {s} .", "nothing about {s} {was} {a} .", "{s} {was}~n't even {a} ."),
    *("{s} {was}~n't as {a} as i expected .", "{s} {was} less {a} than i had thought ."),
    *("{s} {was}~not as {a} as people say .", "{s} {is}~n't that {a} .", "{s} {is}~n't too {a} ."),
    *("{s} could have been {a} .", "{s} should have been {a} .", "{s} might have been {a} ."),
    *("{s} {was}~not only {a} , but also {a} .", "{s} {was} {a} , not {x} ."),
    *("{s} {was} {a} , but ( it was~n't {a} ) .", "{s} {does}~n't look {a} .", "never {a} ."),
    *("{s} never {feels} {a} .", "{s} hardly {feels} {a} .", "not a single {a} moment ."),
    *("we had no {a} surprises .", "there was~n't any {a} part .", "{is}~n't {s} {a} ?"),
    *("{s} {was}~n't {x} , just {a} .", "i have never had anything so {a} ."),
    *("{s} {was} {a} without being {x} .", "{s} {is} without anything {a} .", "not {a} , {x} ."),
    *("i expected {s} to be {a} , but ( it was~n't ) .", "not {x} , but not {a} either ."),
)
VERBS: Final = (
    *("{s} {does}~n't {v} .", "{s} {does}~not {v} .", "{s} did~n't {v} .", "{s} did~not {v} ."),
    *("{s} wo~n't {v} .", "{s} will~not {v} .", "{s} will~never {v} .", "{s} ca~n't {v} ."),
    *("{s} can~not {v} .", "{s} could~n't {v} .", "{s} would~n't {v} ."),
    *("{s} failed to {v} .", "{s} never failed to {v} .", "{s} {does} not fail to {v} ."),
    *("{s} {was} unable to {v} .", "{s} refused to {v} .", "{s} {does}~n't even {v} ."),
    *("it is impossible not to {v} .", "it is hard not to {v} .", "you can~not help but {v} ."),
    *("there is no reason to {v} .", "i see no reason to {v} .", "nothing here could {v} ."),
    *("i do~n't expect {s} to {v} .", "{s} ended without managing to {v} .", "do~n't {v} ."),
    *("nobody wants to {v} .", "{s} {has}~n't begun to {v} .", "{s} {does} nothing but {v} ."),
)
NOUNS: Final = (
    *("{s} {was}~n't {n} .", "{s} {is}~not {n} .", "{s} {is} no {b} .", "{s} {was} no {b} ."),
    *("{s} {is}~hardly {n} .", "{s} {is} far from {n} .", "{s} {was} anything but {n} ."),
    *("{s} {was} never {n} .", "{s} {is} nothing like {n} .", "i would~n't call {s} {n} ."),
    *("there was not a single {b} .", "not a single {b} .", "there was no {b} .", "no {b} ."),
    *("{s} came without {n} .", "we left without {n} .", "without a single {b} ."),
    *("i never found {n} there .", "there was~n't {n} in sight .", "{s} {has} no {b} ."),
    *("nobody would call {s} {n} .", "that does~n't make {s} {n} .", "barely {n} ."),
    *("{s} {was} neither {n} nor {n} .", "{s} lacked {n} .", "we have yet to see {n} ."),
)
DOINGS: Final = (
    *("{p} did~n't {d} .", "{p} did~not {d} .", "{p} wo~n't {d} .", "{p} will~never {d} ."),
    *("{p} would~n't {d} .", "{p} could~n't {d} .", "{p} can~not {d} .", "{p} never had to {d} ."),
    *("{p} had no reason to {d} .", "{p} had nothing to make us {d} .", "nobody had to {d} ."),
    *(
        "{p} could hardly {d} .",
        "{p} could~n't wait to {d} .",
        "i would never {d} because of {s} .",
    ),
    *(
        "thanks to {s} {p} did~n't {d} .",
        "it is impossible not to {d} .",
        "{p} do~n't want to {d} .",
    ),
)
PLAIN: Final = (
    *("{s} {is} {c} .", "{s} {was} {c} .", "{s} {was} {a} and {a} .", "{s} {is} {n} ."),
    *("{s} {was} {a} , but also {x} .", "{s} may {v} .", "{p} had to {d} .", "i found {s} {c} ."),
)
"""Templates without a negation, the opposites of the others."""

TEMPLATES: Final = (COMPLEMENTS, ADJECTIVES, VERBS, NOUNS, DOINGS, PLAIN)
"""All templates, in kinds that are drawn equally often."""
