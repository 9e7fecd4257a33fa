"""Models of sentiment beside what one would otherwise take, on texts of several fields: VADER,
TextBlob, and a MiniLM that was fine-tuned on the same film sentences.

    python lab/benchmarks/beside.py --data FOLDER --encoder FOLDER --runs FOLDER --out FILE
    python lab/benchmarks/beside.py --table NAME=FILE:TEXT:LABEL [--table ...] [--model NAME=BUNDLE]

The second form takes tables of your own, with the names of two columns, and needs only thinstack
with its extra `cpu`, vaderSentiment and textblob. The public set of airline tweets (Crowdflower's
"Twitter US Airline Sentiment"), for instance, is --table tweets=Tweets.csv:text:airline_sentiment.
Labels are classes that say
a side ("positive", "neg"), or numbers, whose middle is 0 if one is below 0, and else half way from
the least to the greatest. Texts without a side are left out. Nothing is learnt from the texts that
are measured.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from beside_page import page_of
from beside_rivals import Rival, bundle, minilm, textblob, vader
from beside_sets import Texts, film, rated, read_table, restaurants, reviews
from rich.console import Console

MODELS: Final = (
    "sentiment=sentiment",
    "sentiment-context=models/thinstack-sentiment-context/thinstack_sentiment_context/model",
    "sentiment-open=models/thinstack-sentiment-open/thinstack_sentiment_open/model",
)
console = Console(stderr=True)


def known_sets(data: Path) -> Iterator[Texts]:
    """The sets of lab/figures.md, of a folder that holds `sst` and `domains`."""
    yield film(data / "sst/dev.txt")
    yield reviews(data / "domains/customer-reviews.jsonl")
    yield rated(data / "domains/amazon-rated.jsonl")
    yield restaurants(data / "domains/aspects-restaurants.jsonl")


def figures(rival: Rival, texts: Texts) -> dict[str, float]:
    """What a rival says of a set, in percent; `r` is Pearson's, with the numbers of the labels."""
    sides = np.sign(texts.numbers)
    clear = sides != 0
    found, seconds = rival.read(texts.texts)
    values, gold = found.values[clear], sides[clear]
    return {
        "own": 100 * float(np.mean(found.sides[clear] == gold)),
        "undecided": 100 * float(np.mean(found.sides[clear] == 0)),
        "sign": 100 * float(np.mean(np.sign(values) == gold)),
        "cut": 100 * best_cut(values, gold),
        "r": float(np.corrcoef(found.values, texts.numbers)[0, 1]),
        "seconds": seconds,
    }


def best_cut(values: np.ndarray, sides: np.ndarray) -> float:
    """The greatest share of texts that one cut of the numbers has on the right side."""
    order = np.argsort(values, kind="stable")
    values, positive = values[order], sides[order] > 0
    below = np.concatenate([[0], np.cumsum(~positive)])
    above = positive.sum() - np.concatenate([[0], np.cumsum(positive)])
    between = np.concatenate([[True], values[1:] > values[:-1], [True]])
    return float((below + above)[between].max() / len(sides))


def main(
    data: Annotated[Path | None, typer.Option(help="Folder that holds sst/ and domains/.")] = None,
    table: Annotated[list[str] | None, typer.Option(help="NAME=FILE:TEXT:LABEL.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="NAME=BUNDLE.")] = None,
    encoder: Annotated[Path | None, typer.Option(help="Folder of a small BERT.")] = None,
    runs: Annotated[Path | None, typer.Option(help="Folder of the fine-tuned encoder.")] = None,
    out: Annotated[Path | None, typer.Option(help="File for the page.")] = None,
) -> None:
    """Measure every model on every set, and write the page."""
    sets = [*(known_sets(data) if data else ()), *map(read_table, table or ())]
    if not sets:
        raise typer.BadParameter("expected --data FOLDER or --table NAME=FILE:TEXT:LABEL")
    rivals = [bundle(*named.split("=", 1)) for named in model or MODELS]
    rivals += [vader(), textblob()]
    if encoder and data and runs:
        rivals.append(minilm(encoder, data / "sst/train.txt", runs))
    rows = {}
    for rival in rivals:
        rows[rival.name] = {texts.name: figures(rival, texts) for texts in sets}
        console.print(rival.name, rows[rival.name])
    page = page_of(sets, rows, {rival.name: (rival.number, rival.rule) for rival in rivals})
    if out is None:
        typer.echo(page)
    else:
        out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
