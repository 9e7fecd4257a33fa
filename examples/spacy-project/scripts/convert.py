"""From a CSV of texts and labels to spaCy's own file of Docs with categories."""

import csv
import sys
from pathlib import Path

import spacy
from spacy.tokens import DocBin


def main(table: Path, out: Path) -> None:
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels, nlp = sorted({row["label"] for row in rows}), spacy.blank("en")
    docs = DocBin()
    for row in rows:
        doc = nlp.make_doc(row["text"])
        doc.cats = {label: float(label == row["label"]) for label in labels}
        docs.add(doc)
    out.parent.mkdir(parents=True, exist_ok=True)
    docs.to_disk(out)
    print(f"{out}: {len(rows)} texts of the classes {', '.join(labels)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
