"""How reliable each rater is where answers are categories, and which answer is likely the true one.

Dawid and Skene (1979), Applied Statistics 28: every story has one true category, every rater their
own chances of saying each category for each true one; both are found by expectation maximisation,
from the shares of the answers on. A rater who is mistaken in a regular way is told from one who
answers at random, which counting agreement cannot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fabula.meta.arrays import Counts, Values
from fabula.meta.raters.ratings import MANY, Ratings

_STEPS = 1000
# Of the mean log-likelihood of a story.
_TOLERANCE = 1e-10
# No chance is zero: a rater who never said something might still.
_LEAST = 1e-10


@dataclass(frozen=True)
class Reliability:
    """What expectation maximisation found.

    `prior` are the shares of the true categories, `confusion` the chances of what a rater says
    (last axis) for each true one, `truth` those of each story's categories. `likelihood` is the
    mean logarithm for a story; `is_settled` says whether the steps came to an end.
    """

    stories: tuple[str, ...]
    raters: tuple[str, ...]
    categories: Values  # (K,)
    prior: Values  # (K,)
    confusion: Values  # (raters, K, K)
    truth: Values  # (stories, K)
    likelihood: float
    steps: int
    is_settled: bool

    @property
    def accuracy(self) -> Values:
        """Chance that a rater says the true category, over stories as they come.  (raters,)"""
        right = np.diagonal(self.confusion, axis1=1, axis2=2)
        accuracy: Values = right @ self.prior
        return accuracy

    @property
    def informedness(self) -> Values:
        """How much more a rater says than who answers the same whatever is true: 1 is all.

        The chance of the truth less what the rater's habits alone would give, of what is left.
        It is 0 for who answers at random or always the same.  (raters,)
        """
        said = np.einsum("k,rks->rs", self.prior, self.confusion)
        habit = said @ self.prior
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Values = (self.accuracy - habit) / (1 - habit)
        return share

    @property
    def likely(self) -> Values:
        """The most likely category of every story.  (stories,)"""
        chosen: Values = self.categories[self.truth.argmax(axis=1)]
        return chosen


def find_reliability(ratings: Ratings, *, most_steps: int = _STEPS) -> Reliability | None:
    """Find out how reliable raters are; None where answers are no categories, or but one.

    The first guess of a story's truth are the shares of its answers.
    """
    categories, said = np.unique(ratings.value, return_inverse=True)
    if not 1 < len(categories) <= MANY or len(ratings.raters) < 2:
        return None
    truth = _share_answers(ratings, said, len(categories))
    before = likelihood = -math.inf
    settled, steps = False, 0
    prior, confusion = _maximise(ratings, said, truth)
    while steps < most_steps and not settled:
        truth, likelihood = _expect(ratings, said, prior, confusion)
        prior, confusion = _maximise(ratings, said, truth)
        settled = likelihood - before < _TOLERANCE
        before, steps = likelihood, steps + 1
    found = ratings.stories, ratings.raters, categories, prior, confusion, truth
    return Reliability(*found, likelihood, steps, settled)


def _share_answers(ratings: Ratings, said: Counts, categories: int) -> Values:
    counts = np.zeros((len(ratings.stories), categories))
    np.add.at(counts, (ratings.story, said), 1.0)
    shares: Values = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _maximise(ratings: Ratings, said: Counts, truth: Values) -> tuple[Values, Values]:
    """Give the shares of true categories and every rater's chances, the truth being so likely."""
    size = truth.shape[1]
    counts = np.zeros((len(ratings.raters), size, size))  # rater, said, true
    np.add.at(counts, (ratings.rater, said), truth[ratings.story])
    by_truth = np.maximum(counts.transpose(0, 2, 1), _LEAST)
    prior: Values = np.maximum(truth.mean(axis=0), _LEAST)
    confusion: Values = by_truth / by_truth.sum(axis=2, keepdims=True)
    return prior / prior.sum(), confusion


def _expect(
    ratings: Ratings, said: Counts, prior: Values, confusion: Values
) -> tuple[Values, float]:
    """Give the chances of every story's truth, and the mean log-likelihood of a story."""
    logs = np.tile(np.log(prior), (len(ratings.stories), 1))  # (stories, K)
    np.add.at(logs, ratings.story, np.log(confusion)[ratings.rater, :, said])
    most = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - most)
    totals = weights.sum(axis=1, keepdims=True)
    truth: Values = weights / totals
    return truth, float((most + np.log(totals)).mean())
