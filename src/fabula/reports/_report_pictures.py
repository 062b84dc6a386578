"""The pictures of a run's stories: which its report draws, and what is seen in them.

A run keeps values alone. The stories that the page shows are looked at again by the run's own
metric, which remembers what it has seen in this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from fabula.core.errors import UserError
from fabula.core.protocols import track, watch
from fabula.core.score import Missing
from fabula.core.story import Story, count_text
from fabula.learned.comments.evidence import word_list
from fabula.learned.rovist import Rovist
from fabula.learned.rovist_c import RovistC
from fabula.learned.rovist_vg import RovistVg
from fabula.reports._picture_figure import PictureBudget
from fabula.reports._picture_section import draw_section, group_by_pictures, write_rules
from fabula.reports.pages import read_static
from fabula.reports.report import DrawnPictures
from fabula.reports.run_data import ReportData, spec_name
from fabula.scoring.catalogue import METRICS
from fabula.scoring.review.parts import PlacedTransition
from fabula.scoring.review.pictures import PicturedStory, PictureValue, picture_story
from fabula.scoring.review.steps import place_transitions
from fabula.text.repetition import find_repetitions

# Sequences of pictures in a usual report, and stories of each. One of all texts draws all, and may
# be larger.
MOST_SEQUENCES = 12
MOST_STORIES_OF_ONE = 8
MOST_BYTES_OF_ALL = 60_000_000
# Reasons that are named; of more the first.
_FEW = 3
_FAMILY = ("rovist", "rovist_vg", "rovist_c", "rovist_nr")


@dataclass(frozen=True)
class _RunMetrics:
    """The metrics of a run that say what is seen in pictures, and which sentence follows which."""

    looking: RovistVg
    order: RovistC | None = None

    @classmethod
    def build(cls, specs: Sequence[str]) -> _RunMetrics:
        looking, order = None, None
        for spec in specs:
            metric = METRICS.build(spec)
            if isinstance(metric, Rovist):
                looking, order = looking or metric.parts[0], order or metric.parts[1]
            elif isinstance(metric, RovistVg):
                looking = metric
            elif isinstance(metric, RovistC):
                order = metric
        assert looking is not None, specs
        return cls(looking, order if order is None or not order.absence else None)

    def picture(self, story: Story, values: tuple[PictureValue, ...]) -> PicturedStory:
        """Look at the pictures of a story; Missing says why that cannot be done."""
        steps: tuple[PlacedTransition, ...] = ()
        if self.order:
            steps = place_transitions(story, self.order)
        runs = find_repetitions(story.text, stop_words=word_list("stop"))
        return picture_story(story, self.looking, transitions=steps, repetition=runs, values=values)


def draw_pictures(data: ReportData, chosen: Sequence[int], *, every: bool) -> DrawnPictures:
    """Draw the pictures of the stories chosen, sequence by sequence: `every` one, or the first."""
    sequences: dict[tuple[str, ...], list[int]] = {}
    for place in chosen:
        if images := data.stories[place].images:
            sequences.setdefault(images, []).append(place)
    shown = [*sequences.values()]
    if not every:
        shown = [places[:MOST_STORIES_OF_ONE] for places in shown[:MOST_SEQUENCES]]
    wanted = [place for places in shown for place in places]
    notes = []
    if len(wanted) < sum(map(len, sequences.values())):
        notes.append(
            f"Pictures of {len(shown)} of {len(sequences):,} sequences are in this file, with at "
            f"most {MOST_STORIES_OF_ONE} stories of each, the first that are shown; with all texts "
            "all of them are."
        )
    pictured, lacking = _look(data, wanted)
    if lacking:
        more = f"; and {len(lacking) - _FEW} more" if len(lacking) > _FEW else ""
        stories = count_text(len(lacking), "story", "stories")
        notes.append(f"Not drawn: {stories}. {'; '.join(lacking[:_FEW])}{more}.")
    groups = group_by_pictures(list(pictured.values()))
    places = {id(story): place for place, story in pictured.items()}
    anchors = {
        places[id(story)]: f"telling-{number}-{at}"
        for number, group in enumerate(groups)
        for at, story in enumerate(group)
    }
    budget = PictureBudget(MOST_BYTES_OF_ALL) if every else PictureBudget()
    style = read_static("pictures.css") + write_rules(groups)
    return DrawnPictures(draw_section(groups, budget, notes), style, anchors)


def _look(data: ReportData, places: Sequence[int]) -> tuple[dict[int, PicturedStory], list[str]]:
    """Look at stories one after the other; give what was seen, and why others were not."""
    specs = [metric["spec"] for metric in data.metrics]
    metrics = _RunMetrics.build([spec for spec in specs if spec_name(spec) in _FAMILY])
    pictured: dict[int, PicturedStory] = {}
    lacking: list[str] = []
    for place in track(places, watch.get().count("stories looked at again")):
        story = data.stories[place]
        try:
            pictured[place] = metrics.picture(story, _list_values(data, place))
        except Missing as missing:
            lacking.append(_name_files(story, missing.note))
        except UserError as error:
            lacking.append(_name_files(story, str(error)))
    return pictured, lacking


def _name_files(story: Story, note: str) -> str:
    """Write a note without places on a machine: a page is passed on."""
    for image in story.images:
        note = note.replace(image, PurePath(image).name)
    return note


def _list_values(data: ReportData, place: int) -> tuple[PictureValue, ...]:
    """What the run says of a story by the metrics of RoViST."""
    return tuple(
        PictureValue(column.title, "", column.scorer, float(data.values[place, number]))
        for number, column in enumerate(data.columns)
        if spec_name(column.scorer) in _FAMILY
    )
