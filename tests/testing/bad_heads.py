"""Task heads that break one rule each, for the contract suite to find out."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.head import Reads, TaskHead


class Good(TaskHead):
    """The softmax of an affine map of nodes; the rule breakers are derived from it."""

    name = "good.v1"
    reading: Reads = "nodes"

    def __init_subclass__(cls) -> None:
        cls.name = f"{cls.__name__.lower()}.v1"

    def __init__(self, *, hidden_size: int, classes: int):
        super().__init__(hidden_size=hidden_size, classes=classes, reads=self.reading)
        self.linear = nn.Linear(hidden_size * (2 if self.reading == "pairs" else 1), classes)
        self.add()

    def add(self) -> None:
        """The end of the constructor."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows)

    def scores(self, rows: Tensor) -> Tensor:
        return torch.softmax(self.forward(rows), 1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")


class GoodOfPairs(Good):
    """Classifies pairs."""

    reading = "pairs"


class GoodRatings(GoodOfPairs):
    """Takes ratings that are floats, and nothing else."""

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        if not labels.is_floating_point():
            raise TypeError("ratings are floats")
        known = labels >= 0
        return functional.mse_loss(logits[known].mean(1), labels[known], reduction="sum")


class WrongSize(Good):
    """Has more classes than it was asked for."""

    def add(self) -> None:
        self.classes += 1


class WrongWidth(Good):
    """Reads pairs, and says that it reads nodes."""

    def add(self) -> None:
        self.linear = nn.Linear(2 * self.hidden_size, self.classes)


class ReadsElse(Good):
    """Reads what no model gives."""

    reading = "words"


class Overwrites(Good):
    """Labels the unlabelled in place."""

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        weight = (labels >= 0).to(logits.dtype)
        return functional.cross_entropy(logits, labels.clamp_(min=0), reduction="none") @ weight


class Mean(Good):
    """Averages over the labelled rows."""

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return super().loss(logits, labels) / (labels >= 0).sum().clamp(min=1)


class CountsUnlabelled(Good):
    """Takes -1 for class 0."""

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(logits, labels.clamp(min=0), reduction="sum")


class NoGradient(Good):
    """Teaches nothing."""

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return super().loss(logits.detach(), labels)


class Shares(Good):
    """Takes soft labels for shares of one label."""

    soft_labels = True

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        if labels.is_floating_point():
            labels = labels / labels.sum(1, keepdim=True).clamp(min=1e-9)
            return functional.cross_entropy(logits, labels, reduction="sum")
        return super().loss(logits, labels)


class Normalises(Good):
    """Cannot be trained on a last batch of one row."""

    def add(self) -> None:
        self.linear = nn.Sequential(nn.BatchNorm1d(self.hidden_size), self.linear)


class CountsRows(Good):
    """Branches on the number of rows."""

    def forward(self, rows: Tensor) -> Tensor:
        logits = self.linear(rows)
        return logits.cumsum(1) if rows.shape[0] > 4 else logits


class Detached(Good):
    """Hides half of what the rows do from autograd."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows) + self.linear(rows.detach())


class Unscriptable(Good):
    """Keeps a lambda."""

    def add(self) -> None:
        self.squash = lambda logits: logits.tanh()

    def scores(self, rows: Tensor) -> Tensor:
        return self.squash(self.linear(rows))


class OtherwiseScripted(Good):
    """Computes something else in TorchScript."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows).cumsum(1) if torch.jit.is_scripting() else self.linear(rows)


class BranchesOnValues(Good):
    """Looks at the values of its weights and rows, to the same end."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows) if bool((rows > 0).any()) else self.linear(rows) + 0


class OtherwiseExported(Good):
    """Computes something else while it is exported."""

    def forward(self, rows: Tensor) -> Tensor:
        compiling = torch.compiler.is_compiling()
        return self.linear(rows).cumsum(1) if compiling else self.linear(rows)


# -- with numbers, batches and devices that tests seldom try


class OwnSoftmax(Good):
    """A softmax written out."""

    def scores(self, rows: Tensor) -> Tensor:
        up = self.forward(rows).exp()
        return up / up.sum(1, keepdim=True)


class LogOfSoftmax(Good):
    """Takes the logarithm of a softmax, which may be 0."""

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        known = labels >= 0
        shares = torch.softmax(logits[known], 1)
        return -shares.log().gather(1, labels[known].unsqueeze(1)).sum()


class NormAtZero(Good):
    """Divides rows by their norm."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows / rows.norm(dim=1, keepdim=True))


class NoDevice(Good):
    """Makes weights of classes without a device."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows) * torch.ones(self.classes, dtype=rows.dtype)


class LossWithoutDevice(Good):
    """Makes targets without a device."""

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        eye = torch.cat([torch.eye(self.classes), torch.zeros(1, self.classes)]).to(logits.dtype)
        return -(functional.log_softmax(logits, 1) * eye[labels]).sum()


class HardType(Good):
    """Computes in float32."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows).float().to(rows.dtype)


class LargeBatches(Good):
    """Centres over the batch from 1,000 rows on."""

    def forward(self, rows: Tensor) -> Tensor:
        logits = self.linear(rows)
        return logits - logits.mean(0) if rows.shape[0] >= 1000 else logits


class BatchStatistics(Good):
    """Normalises by the batch in evaluation mode."""

    def forward(self, rows: Tensor) -> Tensor:
        logits = self.linear(rows)
        return logits - logits.mean(0, keepdim=True) if rows.shape[0] > 1 else logits


class Caches(Good):
    """Keeps results by shape."""

    def add(self) -> None:
        self.kept: dict = {}

    def forward(self, rows: Tensor) -> Tensor:
        return self.kept.setdefault((rows.shape, rows.dtype), self.linear(rows).detach())


class ListOfParameters(Good):
    """Holds a parameter in a list."""

    def add(self) -> None:
        self.more = [nn.Parameter(torch.randn(self.classes, dtype=torch.float64))]

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows) + self.more[0].to(rows)


class FourWide(Good):
    """Has the width of its tests written down."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows.reshape(rows.shape[0], 4))


class Views(Good):
    """Takes rows to lie one after the other in memory."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows.view(rows.numel()).view_as(rows))


class Dropout(Good):
    """Drops out in evaluation mode too, seldom."""

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(functional.dropout(rows, 0.001))
