"""BaryScore: what it costs to carry the layers' middle of the story to that of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fabula.core.card import Card
from fabula.core.errors import PackageMissing
from fabula.core.model import Embedder
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast, Means
from fabula.core.story import Story
from fabula.metrics._sinkhorn import TOLERANCE, Entropic, entropic
from fabula.metrics._transport import certified_cost, exact_plan
from fabula.metrics._vectors import Cloud, distinct_texts, make_clouds, squared_distances, texts_of
from fabula.metrics.model_metric.idf import Rarities, Rarity, RarityMetric

if TYPE_CHECKING:
    from fabula.core.model import Array

STRENGTHS = (10.0, 5.0, 1.0, 0.5, 0.1, 0.01, 0.001)
_MOST_TOKENS = 3_000
# Pairs whose cost is so many r above their worth are where the exact plan is looked for.
_WIDTH = 20.0


@dataclass(frozen=True)
class Baryscore(RarityMetric):
    """Costs of transport between barycentres of the last layers, with and without entropy."""

    revision = 2
    card = Card(
        title="BaryScore",
        family="embedding",
        direction="lower",
        low=0.0,
        needs=("reference",),
        aspects=("w", *(f"sd_{r:g}" for r in STRENGTHS)),
        assets=("minilm",),
        references="the reference with the smallest W counts",
        paper="Colombo, Staerman, Clavel and Piantanida (2021). Automatic Text Evaluation through "
        "the Lens of Wasserstein Barycenters. EMNLP.",
        formula="W = min ΣP‖x − y‖² over plans P between the barycentres x, y of the last layers; "
        "SD-r = ΣP‖x − y‖² of the plan that minimises ΣP‖x − y‖² + r KL(P | uniform)",
        compat="As the original reads texts: cut at the model's window, the tokens that the model "
        "adds counted with the others.",
        quirks=(
            "Every SD-r is converged: no more than 1e-9 of the mass is amiss, at r = 0.001 too. "
            "The published column BaryScore-SD-0.001 is a collapse: exp(−cost / r) underflows in "
            "the original, and what it gives (1e-178 to 1e-9) is neither a cost nor comparable. "
            "No setting brings it back.",
            "SD is not the Sinkhorn divergence: with much entropy a text beside itself costs "
            "nearly as much as beside another. `debiased` gives the divergence OT(x, y) − "
            "½ OT(x, x) − ½ OT(y, y) of values with entropy (Feydy et al., 2019), which is 0 for "
            "equal texts and never below; W stays as it is.",
            "The original's idf never took effect: it looks tokens up by tensors that are in no "
            "dictionary, so that all weigh the same. Here idf, if asked for, weighs the points of "
            "the layers, stories by the run's stories and references by its references.",
            "The original starts its barycentre from zeros, where all plans cost the same; after "
            "a round it stands at the means over the layers, where this starts.",
            "HANNA used the last 5 of 13 states of bert-base-uncased. MiniLM's last 5 of 7 under "
            "compat correlate with its columns, on prompts 48 to 95, at .875 (W), .876 (SD-0.01), "
            ".790 (SD-0.1), .504 (SD-0.5) and .340 to .410 (SD-1 to SD-10; machine stories).",
        ),
        cannot_see="The order of the words but for what the encoder's states say of it; whether "
        "the story is good: it likes what resembles the reference. A longer text beside a short "
        "reference costs more.",
        published={
            "hanna": {
                "BaryScore-W": ("baryscore(compat=True)", "w"),
                **{
                    f"BaryScore-SD-{r:g}": ("baryscore(compat=True)", f"sd_{r:g}")
                    for r in STRENGTHS
                },
            }
        },
    )

    model: str = "embedded('minilm')"
    last: Annotated[int, AtLeast(1), Means("how many of the model's last layers to take")] = 5
    debiased: Annotated[bool, Means("subtract what each text costs beside itself")] = False

    def check(self) -> None:
        """Spell the model in full; the original has no idf that works."""
        super().check()
        if self.compat and self.idf:
            raise self.setting_error(
                "the original's idf never took effect", "leave idf or compat out"
            )

    def layers_wanted(self) -> tuple[int, ...]:
        """Give the last layers, as many as there are of those asked for."""
        if self.absence:
            return ()
        layers = self.model_as(Embedder).layers
        return tuple(range(max(layers - self.last, 0), layers))

    def compute_weighted(
        self, stories: Sequence[Story], rarities: Rarities | None
    ) -> list[Reading]:
        """Encode all texts in one pass and find their middles, then carry story by story."""
        own, others = self._middles(stories, rarities)
        return [
            self._nearest(own[story.text], [others[text] for text in texts_of(story)[1:]])
            for story in stories
        ]

    def _middles(
        self, stories: Sequence[Story], rarities: Rarities | None
    ) -> tuple[_Known, _Known]:
        """Give the middles of all texts as stories, and as references."""
        encoder, texts = self.model_as(Embedder), distinct_texts(stories)
        layers = self.layers_wanted()
        clouds = make_clouds(encoder, texts, layers=layers, cut=self.compat, exact=True)
        if rarities is None:
            known = {
                text: self._middle(cloud, None) for text, cloud in zip(texts, clouds, strict=True)
            }
            return known, known
        own, others = _Known(), _Known()
        written = {story.text for story in stories}
        compared = {text for story in stories for text in texts_of(story)[1:]}
        for text, cloud in zip(texts, clouds, strict=True):
            if text in written:
                own[text] = self._middle(cloud, rarities.stories)
            if text in compared:
                others[text] = self._middle(cloud, rarities.references)
        return own, others

    def _middle(self, cloud: Cloud, rarity: Rarity | None) -> _Middle:
        kept = np.flatnonzero(cloud.words | self.compat)
        if not cloud.words.any():
            return _Middle(lack=(Status.UNDEFINED, "the model sees no token in one of the texts"))
        if len(kept) > _MOST_TOKENS:
            note = f"a text has {len(kept):,} tokens: over the limit of {_MOST_TOKENS:,}"
            return _Middle(lack=(Status.TOO_LONG, note))
        weights = np.array(rarity.weights([cloud.tokens[at] for at in kept])) if rarity else None
        if weights is not None and not weights.any():
            return _Middle(lack=(Status.UNDEFINED, "no token of one of the texts has weight"))
        return _Middle(barycentre(cloud.points[:, kept], weights), cloud.coverage)

    def _nearest(self, story: _Middle, references: list[_Middle]) -> Reading:
        return self.best((self._carry(story, reference) for reference in references), aspect=0)

    def _carry(self, story: _Middle, reference: _Middle) -> Reading:
        if why := story.lack or reference.lack:
            return self.missing(*why)
        # Costs are the same there and back; Newton's method solves for the shorter side.
        tall, short = sorted((story, reference), key=lambda middle: -len(middle.points))
        costs = squared_distances(tall.points, short.points)
        plans = entropic(costs, STRENGTHS)
        own = [*story.alone, *reference.alone] if self.debiased else []
        if wrong := [plan for plan in (*plans, *own) if plan.error > TOLERANCE]:
            return self.missing(Status.UNDEFINED, f"no convergence at r = {wrong[0].r:g}")
        w = certified_cost(costs, plans[-1].potentials, width=_WIDTH * STRENGTHS[-1])
        coverage = min(story.coverage, reference.coverage)
        return Reading((w, *self._values(plans, story, reference)), coverage=coverage)

    def _values(self, plans: list[Entropic], story: _Middle, reference: _Middle) -> list[float]:
        if not self.debiased:
            return [plan.cost for plan in plans]
        sides = zip(plans, story.alone, reference.alone, strict=True)
        return [max(both.value - (x.value + y.value) / 2, 0.0) for both, x, y in sides]


@dataclass(frozen=True)
class _Middle:
    """The barycentre of a text's layers, the share of the text that was read, or what lacks."""

    points: Array = field(default_factory=lambda: np.empty((0, 0)))
    coverage: float = 0.0
    lack: tuple[Status, str] | None = None

    @cached_property
    def alone(self) -> list[Entropic]:
        """What the text costs beside itself."""
        return entropic(squared_distances(self.points, self.points), STRENGTHS)


_Known = dict[str, _Middle]


_MOST_ROUNDS = 100
_STILL = 1e-7  # sum of squares of all moves, as in POT
# Inner products of vectors of length one, in 32 bits, are much better than this.
_SPARE = 1e-5
_MOST_PATHS = 20


def barycentre(clouds: Array, weights: Array | None = None) -> Array:
    """Give as many points, of the same weight each, as every cloud has (clouds × points × width).

    `weights` are those of the points in every cloud; without them they are uniform.
    """
    exact = list(clouds.astype(np.float64, copy=False))
    centre: Array = np.mean(exact, axis=0)
    for _ in range(_MOST_ROUNDS):
        carried = [_carried(centre, cloud, weights) for cloud in exact]
        if all(one is cloud for one, cloud in zip(carried, exact, strict=True)):
            break
        middle = np.mean(carried, axis=0)
        move = float(np.square(middle - centre).sum())
        centre = middle
        if move <= _STILL:
            break
    return centre


def _carried(centre: Array, cloud: Array, weights: Array | None) -> Array:
    """Give for every point of the centre the mean of where its mass goes."""
    if weights is None:
        return cloud if _stays(centre, cloud) else cloud[_assigned(centre, cloud)]
    heavy = np.flatnonzero(weights)
    size = len(centre)
    costs = squared_distances(centre, cloud[heavy])
    plan = exact_plan(np.full(size, 1 / size), weights[heavy], costs)
    carried: Array = size * (plan @ cloud[heavy])
    return carried


def _stays(centre: Array, cloud: Array) -> bool:
    """Whether it is proved that no pairing is cheaper than every point with its own partner.

    The proof are prices of the partners: with them none is a better bargain for a point than its
    own. They are found as shortest paths are, and with so much to spare that 32 bits will do.
    """
    halves = np.einsum("th,th->t", cloud, cloud) / 2
    own = np.einsum("th,th->t", centre, cloud) - halves
    gains = centre.astype(np.float32) @ cloud.astype(np.float32).T
    gains -= halves.astype(np.float32)
    gains -= own.astype(np.float32)[:, None]
    np.fill_diagonal(gains, -np.inf)
    prices = np.zeros(len(own), dtype=np.float32)
    least = gains.max(axis=0) + _SPARE
    for _ in range(_MOST_PATHS):
        changed = np.flatnonzero(least > prices)
        if not len(changed):
            return True
        prices[changed] = least[changed]
        least = (gains[changed] + prices[changed, None]).max(axis=0) + _SPARE
    return False


def _assigned(centre: Array, cloud: Array) -> Array:
    """Give the partner of every point in the cheapest pairing."""
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise PackageMissing("scipy", "models") from None
    partners: Array = linear_sum_assignment(squared_distances(centre, cloud))[1]
    return partners
