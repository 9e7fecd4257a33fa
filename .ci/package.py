"""What somebody runs who has installed the wheel of a packaged pipeline and nothing else."""

import importlib.util
import sys

import spacy

if importlib.util.find_spec("torch"):
    sys.exit("torch must not be needed to run")
nlp = spacy.load("en_shop_mail")
texts = {
    "Where is my parcel?": "delivery",
    "I was charged twice.": "payment",
    "The lamp is broken.": "product",
}
for doc, expected in zip(nlp.pipe(texts), texts.values(), strict=True):
    found = max(doc.cats, key=doc.cats.get)
    print(f"{doc.text} {found} {doc.cats[found]:.2f}")
    assert found == expected, doc.cats
    assert abs(sum(doc.cats.values()) - 1) < 1e-4, doc.cats
