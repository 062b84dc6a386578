"""StoryER's model in training: a backbone and heads on a device, batches in, losses out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fabula.core.errors import SettingError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.joint.backbone import CausalNetwork, JointNetwork, open_backbone
from fabula.learned.joint.config import (
    CONFIDENCE,
    PREFERENCE,
    RATINGS,
    SIGNS,
    comment_input,
    tag_newlines,
)
from fabula.learned.joint.warm_start import resize_embeddings
from fabula.learned.training.joint_data import JointBatch, RatedItem
from fabula.learned.training.joint_recipe import JointRecipe, PairLoss

if TYPE_CHECKING:
    import torch
    from torch import Tensor


IGNORED = -100  # a label that no loss counts
_KEPT = 4096  # texts whose tokens are kept: they come again in every epoch and evaluation


class JointModel:
    """Weights by name, all of which learn; the network is what others read."""

    def __init__(self, network: JointNetwork, recipe: JointRecipe) -> None:
        self.network, self.recipe = network, recipe
        self._rows: dict[str, list[int]] = {}
        _check_room(network, recipe)
        if recipe.compat:
            network.begin_with_end()
        if recipe.gradient_checkpointing:
            network.net.gradient_checkpointing_enable()
        self.weights: dict[str, Tensor] = {
            **{f"net.{name}": value for name, value in network.net.named_parameters()},
            **{f"head.{name}": value for name, value in network.heads.named_parameters()},
        }

    def losses(self, batch: JointBatch, part: str) -> Iterator[dict[str, Tensor]]:
        """Give the losses of a part of a batch, some rows at a time; they add up to the batch's."""
        count = len(batch.worse) if part == "pairs" else len(batch.items)
        if not count or (part != "pairs" and not getattr(self.recipe, part)):
            return
        size = self.recipe.at_once or count
        comments = self._comments(batch.items) if part == "comments" else []
        for start in range(0, count, size):
            rows = slice(start, start + size)
            with self.network.autocast():
                if part == "pairs":
                    losses = self._pair_losses(batch, rows)
                elif part == "aspects":
                    losses = self._aspect_losses(batch.items[rows], count)
                else:
                    total = sum(map(len, comments))
                    losses = self._comment_losses(batch.items[rows], comments[rows], total)
            if losses:
                yield losses

    def preferences(self, texts: Sequence[str]) -> Tensor:
        """Give the logit of every text: (texts,)."""
        return self._heads(texts, PREFERENCE)[PREFERENCE][:, 0]

    def opinions(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """Give the logits of confidence and rating of every text: (texts, aspects)."""
        return self._heads(texts, CONFIDENCE, RATINGS)

    def _heads(self, texts: Sequence[str], *names: str) -> dict[str, Tensor]:
        rows = self._tokenise([tag_newlines(text) for text in texts])
        states = self.network.text_states(rows)
        return {name: self.network.heads[name](states).float() for name in names}

    def _tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut texts into tokens, those alone that were not cut lately."""
        if len(self._rows) > _KEPT:
            self._rows.clear()
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            rows = self.network.tokenise_rows(new, self.recipe.max_tokens)
            self._rows.update(zip(new, rows, strict=True))
        return [self._rows[text] for text in texts]

    def _pair_losses(self, batch: JointBatch, rows: slice) -> dict[str, Tensor]:
        recipe = self.recipe
        worse, better = batch.worse[rows], batch.better[rows] if recipe.ranking else ()
        negatives = [(at, text) for at, text in enumerate(batch.negatives[rows]) if text]
        logits = self.preferences([*worse, *better, *(text for _, text in negatives)])
        ends = len(worse), len(worse) + len(better)
        low, high, bad = logits.tensor_split(ends)
        how: dict[str, Any] = {"loss": recipe.loss, "margin": recipe.margin}
        how["smoothing"] = recipe.smoothing
        total = 1 if recipe.compat else len(batch.worse)
        losses = {}
        if recipe.ranking:
            losses["ranking"] = pair_losses(high, low, **how).sum() / total
        if negatives:
            above = low[[at for at, _ in negatives]]
            losses["negatives"] = pair_losses(above, bad, **how).sum() / total
        return losses

    def _aspect_losses(self, items: Sequence[RatedItem], total: int) -> dict[str, Tensor]:
        import torch

        said = self.opinions([item.story for item in items])
        # Made before it goes to a GPU, which would be waited for at every story.
        chosen = torch.zeros(len(items), len(ASPECTS))
        ratings = torch.zeros_like(chosen)
        for number, item in enumerate(items):
            one = self.recipe.compat
            aspects = [item.aspect] if one else list(item.chosen)
            chosen[number, aspects] = 1
            told = [item.rating] if one else list(item.ratings)
            ratings[number, aspects] = torch.tensor(told)
        chosen, ratings = chosen.to(self.network.device), ratings.to(self.network.device)
        return {
            "confidence": confidence_losses(said[CONFIDENCE], chosen).sum() / total,
            "rating": rating_losses(said[RATINGS], chosen, ratings).sum() / total,
        }

    def _comments(self, items: Sequence[RatedItem]) -> list[list[int]]:
        rows = self.network.tokenise_comments(
            (item.comment for item in items), self.recipe.comment_tokens
        )
        return [row if item.comment else [] for row, item in zip(rows, items, strict=True)]

    def _comment_losses(
        self, items: Sequence[RatedItem], comments: Sequence[Sequence[int]], total: int
    ) -> dict[str, Tensor]:
        if not any(comments):
            return {}
        prompts = [comment_input(item.story, ASPECTS[item.aspect]) for item in items]
        rows = self._tokenise(prompts)
        logits = self.network.comment_logits(rows, comments)  # (rows, tokens, words)
        size = max(map(len, comments))
        labels = [[*row, *[IGNORED] * (size - len(row))] for row in comments]
        ids, _ = self.network.pad_rows(labels)
        return {"comments": comment_losses(logits.float(), ids).sum() / total}


def begin_joint(recipe: JointRecipe, device: torch.device) -> JointModel:
    """Open the backbone, draw the heads and teach the tokeniser its signs."""
    import torch

    torch.manual_seed(recipe.seed)
    network = open_backbone(recipe.backbone, device, warm_start=recipe.warm_start)
    register_signs(network)
    if not recipe.max_tokens:
        recipe = replace(recipe, max_tokens=_find_length(network, recipe))
    return JointModel(network, recipe)


def register_signs(network: JointNetwork) -> None:
    """Make `<sep>` and the end of a line one token each, with embeddings of their own.

    Those begin at the mean of the others. A sign takes the blank before it, so that the word after
    it is read as within a sentence.
    """
    import transformers

    signs = [transformers.AddedToken(sign, lstrip=True, normalized=False) for sign in SIGNS]
    network.tokenizer.add_tokens(signs, special_tokens=True)
    if len(network.tokenizer) > network.net.get_input_embeddings().num_embeddings:
        logging: Any = transformers.utils.logging
        level = logging.get_verbosity()
        logging.set_verbosity_error()  # it would explain at length how they begin
        resize_embeddings(network.net, len(network.tokenizer))
        logging.set_verbosity(level)


def _find_length(network: JointNetwork, recipe: JointRecipe) -> int:
    if network.longest is None:
        problem = f"{recipe.backbone} reads texts of any length"
        raise SettingError(problem, "say max_tokens, such as 2000")
    shared = recipe.comment_tokens if isinstance(network, CausalNetwork) else 0
    return network.longest - shared


def _check_room(network: JointNetwork, recipe: JointRecipe) -> None:
    rooms = [
        ("max_tokens", recipe.max_tokens, network.longest),
        ("comment_tokens", recipe.comment_tokens, network.longest_comment),
    ]
    if isinstance(network, CausalNetwork):  # A comment stands after its text.
        both = recipe.max_tokens + recipe.comment_tokens
        rooms = [("max_tokens + comment_tokens", both, network.longest)]
    for name, wanted, bound in rooms:
        if bound is not None and wanted > bound:
            problem = f"{name} is {wanted}, and {recipe.backbone} has room for {bound}"
            raise SettingError(problem, f"say {name} = {bound}")
    _ = network.start  # refused where a backbone names none


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
    """Cross-entropy of the aspects that a rater chose, summed over them: (rows,).

    `chosen` is 1 for these and 0 for the others: (rows, aspects).
    """
    return -(chosen * logits.log_softmax(-1)).sum(-1)


def rating_losses(logits: Tensor, chosen: Tensor, ratings: Tensor) -> Tensor:
    """Binary cross-entropy of the aspects that a rater chose, summed over them: (rows,).

    `ratings` are theirs, from 0 to 1; the others do not count: (rows, aspects).
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    losses = binary_cross_entropy_with_logits(logits, ratings, reduction="none")
    return (chosen * losses).sum(-1)


def comment_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of the tokens of comments, 0 at what is ignored: (rows, tokens)."""
    from torch.nn.functional import cross_entropy

    return cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="none")
