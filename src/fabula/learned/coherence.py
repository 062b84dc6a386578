"""Coherence: whether the sentences of a story belong together, as people rate it."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.learned.reader.metric import EitherWeights, ScaleMetric


@dataclass(frozen=True)
class Coherence(ScaleMetric):
    """How coherent people would find a story, learned from ratings after spoiled stories."""

    revision = 3
    card = Card(
        title="Coherence, learned",
        label="Coherence",
        family="learned",
        direction="higher",
        assets=("story_encoder", "coherence"),
        paper="Negatives: Guan and Huang (2020), EMNLP, 9157–9166, and Ghazarian, Liu, Akash S M, "
        "Weischedel, Galstyan and Peng (2021), NAACL-HLT, 4334–4344. The model is ours.",
        formula="weighted sum of the standardised outputs of heads that learned from people's "
        "ratings and from spoiled stories, mean over the story's windows",
        quirks=(
            "Telling spoiled stories from others is easy to learn and says little of people's "
            "ratings: the ratings come last in the training.",
            "The value has no unit: compare values of the same weights.",
            "Where lines break does not count, though HANNA's raters can be told better with it "
            "(.499): paragraphs are no coherence.",
            "A story is read by windows: what goes wrong between two far places is not seen.",
            "Measured, Spearman with people: .310 [.203, .407] on 300 machine stories that are "
            "like none it learned from (coherence_roc300; MANPLTS's RoBERTa .558; a moving "
            "type-token ratio .177, and the gain over it, .134 [-.032, .280], is not sure). By "
            "readers that had not seen the item, mean of three seeds: MANS .503 [.458, .549] on "
            "ROCStories and .292 [.239, .348] on WritingPrompts (1,000 stories each), HANNA .489 "
            "[.449, .526] (1,056; different words .377), UNION's ratings .404 [.322, .481] (400; "
            "UNION itself .460).",
            "Another training, on even windows, gave .293 there: take .02 for chance.",
            "weights='plausible' (MPNet, whose layers have eight times the weights; needs the "
            "asset mpnet) learned from no person, only from stories beside the same corrupted, "
            "manipulated and spoiled: weights/README.md has its figures.",
            "weights='large' read the whole story with the story-adapted SmolLM2, and with the "
            "judge of weights='plausible' beside it (so that they need the assets of both): of "
            "the choices of six corpora, each left out of the training, .705 agree on average, "
            ".133 [.119, .146] more than with the best trivial baseline of each "
            "(weights/README.md).",
        ),
        cannot_see="Contradictions that take knowledge of the world, and threads that are left "
        "open over several windows. On machine stories a moving type-token ratio is a strong "
        "rival: compare with it.",
    )

    small = "coherence"

    weights: EitherWeights = "coherence"

    @property
    def scales(self) -> tuple[str, ...]:
        """The one scale."""
        return ("coherence",)
