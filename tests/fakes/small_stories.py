"""Made-up stories of five sentences, and what judges' negatives are made of, for tests."""

from __future__ import annotations

from fabula.learned.negatives.corpus import Corpus
from fabula.text.antonyms import Antonyms

BAKER = (
    "Nora wanted to bake a cake.",
    "She bought flour and a lemon at the market.",
    "Her oven was cold and would not light.",
    "A kind neighbour opened his warm kitchen.",
    "Nora happily shared the cake with him.",
)
SAILOR = (
    "Tom owned an old boat.",
    "He painted the boat with his brother.",
    "They sailed to a small island in June.",
    "A storm broke the mast that night.",
    "Tom slowly rowed the boat home.",
)
TEACHER = (
    "The school had no music teacher.",
    "Ida offered to teach singing on Fridays.",
    "Twelve children came to the first lesson.",
    "They were loud and often wrong.",
    "In spring they sang for the whole town.",
)
STORIES = (BAKER, SAILOR, TEACHER)
CORPUS = Corpus.of(STORIES)
ANTONYMS = Antonyms({"cold": ("hot",), "open": ("close",), "old": ("young",), "small": ("big",)})
