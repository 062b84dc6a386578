"""What a manipulation of a plot touches: one frozen recipe, and the two of the paper."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fabula.core.errors import SettingError

TECHNIQUES = ("repetition", "order", "substitution", "contradiction")


@dataclass(frozen=True)
class PlotRecipe:
    """How much of a plot each manipulation touches, and how many of them a story gets."""

    fewest: int = 2
    most: int = 4
    repeated: float = 0.05  # of the keywords
    repeated_every: int = 3  # into one of so many sentences
    repeated_by_length: bool = True  # rather into sentences with few keywords
    reordered: float = 0.15  # of the verbs
    joined: float = 0.0  # chance of then, later, subsequently; how often is not stated
    substituted: float = 0.05  # of the sentences
    substituted_run: int = 3  # keywords in a row; 0: all of a sentence
    contradicted: float = 0.05  # of the keywords with antonyms

    def __post_init__(self) -> None:
        if not 1 <= self.fewest <= self.most <= len(TECHNIQUES):
            problem = f"{self.fewest} to {self.most} manipulations will not do"
            raise SettingError(problem, "give 1 to 4")
        if self.repeated_every < 1 or self.substituted_run < 0:
            raise SettingError(
                "repeated_every or substituted_run is too small", "give 1, 0 or more"
            )
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, float) and not 0 <= value <= 1:
                raise SettingError(f"{one.name}={value} is no share", "give 0 to 1")


ROC = PlotRecipe()
WP = PlotRecipe(
    repeated_every=4,
    repeated_by_length=False,
    reordered=0.05,
    joined=0.5,
    substituted_run=0,
    contradicted=0.15,
)
