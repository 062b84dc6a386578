"""StoryER's losses, each a number for every row; what they are divided by is for the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.learned.training.storyer_joint_recipe import PairLoss

if TYPE_CHECKING:
    from torch import Tensor

IGNORED = -100


def pair_losses(
    better: Tensor, worse: Tensor, *, loss: PairLoss, margin: float, smoothing: float = 0.0
) -> Tensor:
    """Say by how much pairs of preference logits are not as they should be: (pairs,).

    `margin` is max(0, p_worse - p_better + m), p the sigmoid; `cross_entropy` calls the better one
    1 and the worse one 0, and `smoothed` takes a share off both labels.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    if loss == "margin":
        return (worse.sigmoid() - better.sigmoid() + margin).clamp(min=0)
    share = smoothing / 2 if loss == "smoothed" else 0.0
    label = better.new_full(better.shape, share)
    return binary_cross_entropy_with_logits(
        better, 1 - label, reduction="none"
    ) + binary_cross_entropy_with_logits(worse, label, reduction="none")


def confidence_losses(logits: Tensor, chosen: Tensor) -> Tensor:
    """Cross-entropy of the aspects that a story's readers chose, summed over them: (rows,).

    `chosen` is 1 for these and 0 for the others: (rows, aspects).
    """
    return -(chosen * logits.log_softmax(-1)).sum(-1)


def rating_losses(logits: Tensor, aspects: Tensor, ratings: Tensor) -> Tensor:
    """Binary cross-entropy of the one aspect that was rated, from 0 to 1: (rows,)."""
    from torch.nn.functional import binary_cross_entropy_with_logits

    said = logits.gather(1, aspects[:, None])[:, 0]
    return binary_cross_entropy_with_logits(said, ratings, reduction="none")


def comment_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of the tokens of comments, 0 at what is ignored: (rows, tokens)."""
    from torch.nn.functional import cross_entropy

    return cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="none")


def shifted_right(labels: Tensor, start: int, pad: int) -> Tensor:
    """Give what the decoder has read before each token: a sign for the beginning, then labels."""
    found = labels.roll(1, dims=1)
    found[:, 0] = start
    return found.masked_fill(found == IGNORED, pad)
