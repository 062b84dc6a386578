"""A made-up story with made-up opinions: what a review is tested on without any weights."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.scoring.review import MissingPart, PlacedTransition, Review
from fabula.scoring.review.parts import Opinions
from fabula.scoring.review.steps import add_comments, assemble_review
from fabula.text.sentences import sentence_spans

TEXT = """The lamp in the tower went out at nine, and nobody on the island said a word about \
it. That night Mara counted the steps to the top as she always did, and there were two hundred \
and twelve of them, one more than yesterday.

She thought that she had made a mistake. But the stone of the new step was warm, and somebody \
had written a name on it. “Tomas,” she read, and her voice came back to her from below, a \
little too late. He had drowned in the winter when the boats did not come home.

The price of coal rose again on the mainland. Shaking, Mara lit the lamp with the last of the \
matches. The sea lay black and quiet, and the salt wind smelled of smoke. Down on the shore a \
small boat was waiting with its oars shipped, and in it sat a man who did not look up. Was it \
Tomas? Mara wept for the first time that year, and then she laughed, because his hat was still \
on backwards.

In the morning the keeper’s book had one line in a hand that was not hers: all is well. She \
closed it gently, and somebody had written a name on it. Then she went down two hundred and \
eleven steps."""
STORY = Story("The keeper", TEXT, prompt="A lighthouse keeper finds one step too many.")

# A story told by somebody who watches: much is seen and felt, much is done to things by nobody.
HABITS = """I noticed that the shop was being closed at six, and I saw that the chairs had been \
put on the tables. I could feel that it was going to be a long night. I heard the key, and I \
realised that nobody had looked for me. I watched the street from behind the glass.

The lights were switched off by the owner, and the till was emptied. I felt cold. I saw that the \
window had been left open. A cat was being fed in the yard, and I noticed that the bowl had been \
filled with milk. I wondered whether a door had been forgotten as well.

Then the alarm was turned on, and I realised that I had been seen."""

CRITERIA = {
    "relevance": 4.1,
    "coherence": 3.6,
    "empathy": 3.9,
    "surprise": 3.2,
    "engagement": 3.8,
    "complexity": 2.7,
}
RATINGS = (4.3, 3.2, 4.0, 3.7, 4.4, 3.1, 3.6, 2.4, 1.8, 3.9)
CONFIDENCES = (0.16, 0.07, 0.21, 0.12, 0.18, 0.04, 0.06, 0.05, 0.02, 0.09)
BASELINES = {"words": 229.0, "unique_words": 138.0, "word_length": 3.98, "mattr": 0.8612}
NOTE = "the story is unlike those that the reader learned from: hardly a long word"


def made_up_opinions(
    text: str = TEXT, *, weakest: int = 6, note: str = "", missing: tuple[MissingPart, ...] = ()
) -> Opinions:
    """Opinions of nobody on a story, each different."""
    spans = sentence_spans(text)
    transitions = tuple(
        PlacedTransition(one, other, 0.08 if at == weakest else 0.55 + 0.4 * ((at * 7) % 5) / 5)
        for at, (one, other) in enumerate(pairwise(spans))
    )
    scores = {
        "storyer": {"": 0.42, "percentile": 63.2, "low": 41.0, "high": 80.4},
        "criteria": CRITERIA,
        "coherence": {"": 3.4},
        "aspects": dict(zip(ASPECTS, RATINGS, strict=True)),
        "confidence": dict(zip(ASPECTS, CONFIDENCES, strict=True)),
        "rovist_c": {"": 0.7},
        "baselines": BASELINES,
    }
    made = {
        part: {
            aspect: Score("x", part, aspect, value, note=note if part == "storyer" else "")
            for aspect, value in by_aspect.items()
        }
        for part, by_aspect in scores.items()
    }
    signatures = {"storyer": "storyer|reader:0123|rev:1|fabula:0", "words": "words|rev:1|fabula:0"}
    return Opinions(made, transitions, missing, signatures)


def without_models() -> Opinions:
    """Opinions where no model can be had: the baselines alone."""
    whole = made_up_opinions()
    why = "the asset 'reader' is not here; run: fabula models pull reader"
    absent = {"": Score("x", "storyer", "", status=Status.MISSING_MODEL, note=why)}
    parts = {"storyer": absent, "baselines": whole.scores["baselines"]}
    return Opinions(parts, missing=(MissingPart("storyer", why),), signatures=whole.signatures)


def made_up_review(story: Story = STORY, **options: object) -> Review:
    """Review a story with made-up opinions, and composed comments."""
    scored = assemble_review(story, made_up_opinions(story.text, **options))
    return [scored, *add_comments(scored)][-1]


def renamed(review: Review, name: str) -> Review:
    """Give the story of a review another id."""
    return replace(review, story=replace(review.story, id=name))
