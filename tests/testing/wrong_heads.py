"""Task heads that break one rule each, with numbers, batches and devices that tests seldom try."""

import torch
from bad_heads import Good
from torch import Tensor, nn
from torch.nn import functional


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


class LossWithoutDevice(Good):
    """Makes targets without a device."""

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        eye = torch.cat([torch.eye(self.classes), torch.zeros(1, self.classes)]).to(logits.dtype)
        return -(functional.log_softmax(logits, 1) * eye[labels]).sum()


class LargeBatches(Good):
    """Centres over the batch from 1,000 rows on."""

    def forward(self, rows: Tensor) -> Tensor:
        logits = self.linear(rows)
        return logits - logits.mean(0) if rows.shape[0] >= 1000 else logits


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
