"""A review: one story, every opinion on it, and comments on what readers would speak of.

`review_story` gives it step by step, for a terminal, a program or a page that shows what is there
already; `rank_stories` sets several stories side by side.
"""

from fabula.scoring.review.commenters import WrittenComments, find_joint
from fabula.scoring.review.marks import Gauge
from fabula.scoring.review.parts import AspectReview, MissingPart, PlacedTransition, Review
from fabula.scoring.review.ranking import Ranking, Standing, rank_stories
from fabula.scoring.review.steps import (
    choose_aspects,
    count_story,
    review_story,
)

__all__ = [
    "AspectReview",
    "Gauge",
    "MissingPart",
    "PlacedTransition",
    "Ranking",
    "Review",
    "Standing",
    "WrittenComments",
    "choose_aspects",
    "count_story",
    "find_joint",
    "rank_stories",
    "review_story",
]
