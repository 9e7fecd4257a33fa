"""What needs no torch: a bundle in spaCy, over the trees that the model makes itself."""

import importlib.util
import sys

import spacy

if importlib.util.find_spec("torch"):
    sys.exit("torch must not be needed to run")
nlp = spacy.blank("en")
nlp.add_pipe("sentencizer")
nlp.add_pipe("tree_sentiment", config={"source": "self"})
for sentence in nlp(
    "The acting is strong, but the plot never comes alive. Still, I liked it."
).sents:
    phrases = sentence._.sentiment_phrases
    assert len(phrases) == 2 * len(sentence) - 1, phrases
    assert phrases[-1]["text"] == sentence.text, phrases
    print(sentence._.sentiment_label, sentence._.sentiment_tree)
