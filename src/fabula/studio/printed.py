"""What STORIUM's paper prints of its dashboard, to stand beside ours where somebody asks for it.

Akoury et al. (2020), STORIUM: A dataset and evaluation platform for machine-in-the-loop story
generation. EMNLP, 6470–6484. Two ways to draw words from one GPT-2, top-k and nucleus, were rated
by authors who published: Table 5 has the means and the correlations, Table A4 USER beside ROUGE
over 174 and 178 suggestions, section 6 what was kept. Shares are of 1, as ours are; the paper
prints USER and ROUGE times 100. Of Table A3 no value is at hand, and none is made up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# As `ratings.py` titles its questions, which needs a database.
_RELEVANCE, _FLUENCY, _COHERENCE, _LIKABILITY = "Relevance", "Fluency", "Coherence", "Likability"
_USER = "USER"
_SYSTEMS = ("top-k", "nucleus")


@dataclass(frozen=True)
class PrintedMean:
    """The mean of a quality of one of the paper's two systems; `n` where it is told."""

    table: str
    system: str
    quality: str
    mean: float
    n: int | None = None


@dataclass(frozen=True)
class PrintedCorrelation:
    """Pearson's r of two qualities, of one of the paper's two systems."""

    table: str
    system: str
    left: str
    right: str
    r: float


@dataclass(frozen=True)
class PrintedFigures:
    """All of it. `kept` has shares: of proper nouns among words that were kept and among those
    that were generated, and of names the story knew or did not among those that were kept."""

    source: str
    means: tuple[PrintedMean, ...]
    correlations: tuple[PrintedCorrelation, ...]
    kept: Mapping[str, float]

    def find_r(self, system: str, left: str, right: str) -> float | None:
        """Give the printed r of two qualities, whichever comes first."""
        for each in self.correlations:
            if each.system == system and {each.left, each.right} == {left, right}:
                return each.r
        return None


def printed_figures() -> PrintedFigures:
    """Give STORIUM's printed figures, by the labels of our own qualities."""
    return PrintedFigures(_SOURCE, (*_list_means(),), (*_list_correlations(),), _KEPT)


_SOURCE = "Akoury et al. (2020), Tables 5 and A4"
# By system: top-k, nucleus.
_TABLE_5_MEANS = {
    _RELEVANCE: (2.55, 2.47),
    _LIKABILITY: (3.32, 3.21),
    _FLUENCY: (3.96, 3.76),
    _COHERENCE: (3.41, 2.96),
    _USER: (0.1563, 0.0986),
}
_TABLE_5 = {
    (_RELEVANCE, _LIKABILITY): (0.51, 0.53),
    (_RELEVANCE, _FLUENCY): (0.28, 0.40),
    (_RELEVANCE, _COHERENCE): (0.55, 0.57),
    (_RELEVANCE, _USER): (0.51, 0.39),
    (_LIKABILITY, _FLUENCY): (0.28, 0.38),
    (_LIKABILITY, _COHERENCE): (0.35, 0.55),
    (_LIKABILITY, _USER): (0.34, 0.35),
    (_FLUENCY, _COHERENCE): (0.54, 0.61),
    (_FLUENCY, _USER): (0.13, 0.23),
    (_COHERENCE, _USER): (0.25, 0.36),
}
_TABLE_A4 = {"ROUGE-L": (0.2861, 0.2066), "ROUGE-W": (0.2073, 0.1380), _USER: (0.1563, 0.0986)}
_TABLE_A4_COUNTS = (174, 178)
_KEPT = {
    "proper nouns of kept": 0.295,
    "proper nouns of generated": 0.135,
    "known names": 0.63,
    "new names": 0.37,
}


def _list_means() -> list[PrintedMean]:
    listed = []
    for place, system in enumerate(_SYSTEMS):
        listed += [
            PrintedMean("5", system, quality, values[place])
            for quality, values in _TABLE_5_MEANS.items()
        ]
        listed += [
            PrintedMean("A4", system, quality, values[place], _TABLE_A4_COUNTS[place])
            for quality, values in _TABLE_A4.items()
        ]
    return listed


def _list_correlations() -> list[PrintedCorrelation]:
    return [
        PrintedCorrelation("5", system, *pair, values[place])
        for place, system in enumerate(_SYSTEMS)
        for pair, values in _TABLE_5.items()
    ]
