"""TIGEr on any grounder: do a story and its references speak of the same regions of pictures?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.card import Card
from fabula.core.model import Picture
from fabula.core.score import Missing, Reading, Status
from fabula.core.story import Story
from fabula.learned.grounding.grounder import Sight
from fabula.learned.grounding.metric import (
    ASSETS,
    PictureMetric,
    describe_sights,
    keep_nouns,
    read_pictures,
)
from fabula.learned.grounding.tiger import compare_grounding, weigh_regions

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class Tiger(PictureMetric):
    """Agreement of a story with its references on which regions matter (Jiang et al., 2019)."""

    card = Card(
        title="TIGEr, on any grounder",
        label="TIGEr",
        family="model",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("reference", "images"),
        aspects=("ranking", "weights", "mean"),
        assets=ASSETS,
        references="the mean relevance of each region over the references",
        paper="Jiang, Huang, Zhang, Wang, Zhang, Gan, Diesner and Gao (2019). TIGEr: Text-to-image "
        "grounding for image caption evaluation. EMNLP-IJCNLP, 2141–2152.",
        formula="a region's relevance to a text is its similarity to the text's nouns, averaged by "
        "softmax(9 · similarity). ranking: NDCG of the story's order of all regions of all "
        "pictures; weights: 1 − σ(1.5 (KL(softmax r ‖ softmax c) + log(‖r‖ / ‖c‖))); mean of both",
        compat="The nouns as RoViST's released code finds them. TIGEr's own model, SCAN, is not at "
        "hand, and its values cannot be had again.",
        quirks=(
            "A text beside itself has ranking 1, weights ½ and mean ¾: so is TIGEr's formula.",
            "Made for a caption and its one picture; here the regions of all pictures of a story "
            "are ranked together.",
            "Words are nouns, which is what grounders know; SCAN reads every word.",
            "A reference without a noun that the grounder knows is left out.",
        ),
        cannot_see="Anything but nouns, and whether what is said of them is true. Drawings are "
        "unlike the photographs that detector and encoder have learned from.",
    )

    def compute(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Read the stories one by one."""
        return [self._read(story) for story in stories]

    def _read(self, story: Story) -> Reading:
        try:
            pictures = read_pictures(story)
            seen = self._look(pictures, story.text)
            others = [self._look(pictures, text) for text in story.nonblank_references]
            references = [weigh_regions(table) for _, table in others if table.size]
            if not seen[1].size or not references:
                which = "the references" if seen[1].size else "the story"
                raise Missing(Status.UNDEFINED, f"the grounder knows no noun of {which}")
            score = compare_grounding(np.array(references), weigh_regions(seen[1]))
        except Missing as missing:
            return self.missing(missing.status, missing.note)
        note = "; ".join(describe_sights(seen[0]))
        return Reading((score.ranking, score.weights, score.mean), note=note)

    def _look(self, pictures: Sequence[Picture], text: str) -> tuple[list[Sight], Array]:
        """Give what was seen, and how like the known nouns all regions are: (regions, nouns)."""
        nouns = list(dict.fromkeys(noun.text for noun in keep_nouns(text, self.compat)))
        sights = self.looker.look(pictures, nouns)
        table = np.concatenate([sight.similarities for sight in sights])
        return sights, table[:, ~np.isnan(table).any(axis=0)]
