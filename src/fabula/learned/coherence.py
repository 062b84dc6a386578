"""Coherence: whether the sentences of a story belong together, as people rate it."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.learned.reader.metric import EitherWeights, ScaleMetric


@dataclass(frozen=True)
class Coherence(ScaleMetric):
    """How coherent people would find a story, learned from ratings after spoiled stories."""

    revision = 4
    card = Card(
        title="Coherence, learned",
        label="Coherence",
        family="learned",
        direction="higher",
        assets=("story_encoder", "coherence", "sequence", "order"),
        paper="Negatives: Guan and Huang (2020), EMNLP, 9157–9166, and Ghazarian, Liu, Akash S M, "
        "Weischedel, Galstyan and Peng (2021), NAACL-HLT, 4334–4344. The model is ours.",
        formula="weighted sum of the standardised outputs of heads that learned from people's "
        "ratings and from spoiled stories, mean over the story's windows; with .25 and .4 of how "
        "its sentences follow one another, as told by their states in the story encoder and by the "
        "judge of sentence order, neither of which has learned from a rating",
        quirks=(
            "Telling spoiled stories from others is easy to learn and says little of people's "
            "ratings: the ratings come last in the training.",
            "The value has no unit: compare values of the same weights.",
            "Where lines break does not count, though HANNA's raters can be told better with it "
            "(.499): paragraphs are no coherence.",
            "A story is read by windows: what goes wrong between two far places is not seen.",
            "Measured, Spearman with people: .316 [.214, .419] on 300 machine stories that are "
            "like none it learned from (coherence_roc300; MANPLTS's RoBERTa .558; a moving "
            "type-token ratio .177, and the gain over it, .139 [-.030, .283], is not sure). By "
            "readers that had not seen the item, mean of three seeds: MANS .500 [.451, .549] on "
            "ROCStories and .289 [.235, .345] on WritingPrompts (1,000 stories each), HANNA .479 "
            "[.436, .520] (1,056; different words .377), UNION's ratings .420 [.335, .494] (400; "
            "UNION itself .460).",
            "Of 120 human stories of up to 500 words 84 % are preferred to the same with their "
            "sentences in a chance order, of 120 of five sentences 92 % (weights='large': 90 % and "
            "86 %; 'both': 90 % and 94 %).",
            "Another training, on even windows, gave .293 there: take .02 for chance.",
            "weights='plausible' (MPNet, whose layers have eight times the weights; needs the "
            "asset mpnet) learned from no person, only from stories beside the same corrupted, "
            "manipulated and spoiled: weights/README.md has its figures.",
            "weights='large' have a linear head on the eighth layer of that MPNet (they need its "
            "assets): .443 [.346, .534] with coherence_roc300, and of the choices of six corpora, "
            "each left out of the training, .707 agree on average, .135 [.121, .148] more than "
            "with the best trivial baseline of each (weights/README.md). A story of 500 words "
            "takes them .44 s of two cores, and the usual weights .34 s.",
        ),
        cannot_see="Contradictions that take knowledge of the world, and threads that are left "
        "open over several windows. On machine stories a moving type-token ratio is a strong "
        "rival: compare with it.",
    )

    small = "coherence"
    large = "coherence_mpnet"

    weights: EitherWeights = "coherence"

    @property
    def scales(self) -> tuple[str, ...]:
        """The one scale."""
        return ("coherence",)
