import thinstack

predictor = thinstack.load("run/model-best")
(prediction,) = predictor.predict([["Songs", "at", "dinner"]])
pairs = zip(predictor.labels, prediction.node_scores[-1], strict=True)
print(" ".join(label for label, score in pairs if score > 0.5))
