"""Matrices that are applied to rows: in the precision they come in, or in 8 bits.

In 8 bits a row is whole numbers from -127 to 127 times a step of its own, and so is every column of
the matrix; the products are summed exactly. As each row has its own step, what a text gives does
not depend on the texts that are read beside it, as it would with one step for a whole batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fabula.core.errors import SettingError
from fabula.models._runtime import own_device, require_precision

if TYPE_CHECKING:
    from torch import Tensor

_MOST = 127
_LEAST_STEP = 1e-12  # of a row of zeros


class LinearMap(Protocol):
    """A matrix and a bias, however they are kept."""

    def __call__(self, rows: Tensor) -> Tensor:
        """Multiply, and add the bias."""
        ...

    def onto(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """Add the result for `inputs` to rows that are not needed afterwards."""
        ...


@dataclass(frozen=True)
class Linear:
    """A matrix (inputs × outputs) and a bias."""

    weight: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        """Multiply, and add the bias."""
        import torch

        return torch.addmm(self.bias, rows, self.weight)

    def onto(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """Add the result for `inputs` to rows that are not needed afterwards."""
        return rows.add_(self.bias).addmm_(inputs, self.weight)


@dataclass(frozen=True)
class Int8Linear:
    """A matrix (inputs × outputs) in 8 bits, the step of each of its columns, and a bias."""

    weight: Tensor
    steps: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        """Multiply, and add the bias."""
        import torch

        # A norm of torch takes ten times as long.
        largest = rows.abs().amax(1, keepdim=True)  # (T, 1)
        steps = largest.div_(_MOST).clamp_min_(_LEAST_STEP)
        sums = torch._int_mm((rows / steps).round_().char(), self.weight)  # (T, O), 32 bits
        return torch.addcmul(self.bias, sums * steps, self.steps)

    def onto(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """Add the result for `inputs` to rows that are not needed afterwards."""
        return rows.add_(self(inputs))


def quantise(linear: Linear) -> Int8Linear:
    """Give a matrix in 8 bits: each column by its largest number."""
    weight = linear.weight.float()
    steps = (weight.abs().amax(0) / _MOST).clamp_min(_LEAST_STEP)  # (outputs,)
    packed = (weight / steps).round_().char().contiguous()
    return Int8Linear(packed, steps, linear.bias.float())


def require_int8() -> None:
    """Refuse 8 bits on a GPU, and on a processor that cannot multiply in them."""
    if own_device() != "cpu":
        problem = f"dtype='int8' is for processors, and FABULA_DEVICE is {own_device()}"
        raise SettingError(problem, "leave one of the two out")
    require_precision("int8")
