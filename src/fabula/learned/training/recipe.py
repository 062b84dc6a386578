"""Recipes, which are frozen and read from TOML; and that of a reader: tasks, stages and scales."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from fabula.core.errors import SettingError, UnknownName, closest
from fabula.core.plain import from_plain, read_toml
from fabula.learned.reader.config import Link
from fabula.learned.reader.relation import RELATION_VERSION
from fabula.learned.training.loop import LoopConfig
from fabula.text.layout import Layout

T = TypeVar("T")
TaskKind = Literal[
    "pairs", "ratings", "shares", "labels", "corrupted", "filled", "order", "spoiled", "taught"
]  # fmt: skip
Loss = Literal["logistic", "margin", "cross_entropy", "smoothed"]
OPINIONS: tuple[TaskKind, ...] = ("pairs", "ratings", "shares")
PAIRED: tuple[TaskKind, ...] = ("pairs", "spoiled")  # of two texts, the first is the better one
# Of plain corpora.
UNRATED: tuple[TaskKind, ...] = ("corrupted", "filled", "order", "spoiled", "taught")

_PACKAGED = Path(__file__).with_name("_recipes")


def read_recipe(
    kind: type[T], source: Path | Mapping[str, Any], *, where: str = "recipe", **changes: Any
) -> T:
    """Read a recipe; changes that are not None take the place of what the source says."""
    if isinstance(source, Path):
        source, where = read_toml(source, error=SettingError), str(source)
    said = {name: value for name, value in changes.items() if value is not None}
    return from_plain(kind, {**source, **said}, where)


def find_recipe(name: str) -> Path:
    """Give the file of a recipe that comes with Fabula: in the package, or in the clone."""
    source = Path(__file__).parents[3]
    clone = source.parent / "recipes" if source.name == "src" else _PACKAGED
    folder = _PACKAGED if _PACKAGED.is_dir() else clone
    if not (file := folder / f"{name}.toml").is_file():
        known = closest(name, (path.stem for path in folder.glob("*.toml")))
        raise UnknownName(f"no recipe called {name!r} comes with Fabula", known)
    return file


def is_joint(path: Path) -> bool:
    """Whether a file is the recipe of an encoder-decoder, not of a reader: it names a backbone."""
    return "backbone" in read_toml(path, error=SettingError)


def is_reader(path: Path) -> bool:
    """Whether a file is the recipe of a reader: with no backbone, probes or choices made up."""
    return not {"backbone", "probes", "made"} & read_toml(path, error=SettingError).keys()


def is_sequence(path: Path) -> bool:
    """Whether a file is the recipe of a head that learns from made choices alone."""
    return "made" in read_toml(path, error=SettingError)


def require_least(recipe: Any, **least: float) -> None:
    """Refuse settings that are lower than they may be."""
    for name, low in least.items():
        if getattr(recipe, name) < low:
            raise SettingError(f"{name} must be at least {low}", "mend the recipe")


def require_shares(recipe: Any, *names: str) -> None:
    """Refuse settings that are no share below 1."""
    for name in names:
        if not 0 <= getattr(recipe, name) < 1:
            raise SettingError(f"{name} must be at least 0 and below 1", "mend the recipe")


@dataclass(frozen=True)
class Task:
    """What one head learns, and from which data sets.

    `pairs`: which of two stories people prefer (with `negatives`, the less liked one and a
    corruption of it); `ratings`: people's ratings on `aspects`, which are standardised; `shares`:
    which of the `aspects` raters chose to speak of; `labels`: a data set's own labels;
    `corrupted`: people's stories and UNION's negatives of them; `filled`: the same with words that
    the encoder guessed; `order`: which of two neighbouring sentences comes first; `spoiled`: which
    of two is a human story as it was written, and which the same put out of order, looped, mixed
    up or grafted (with `rated`, stories that people rated, too: folds part them); `taught`: what
    the heads of a `teacher`, named by `aspects`, say of human stories, and of the same corrupted
    and spoiled.
    """

    kind: TaskKind
    data: tuple[str, ...]
    head: str
    aspects: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()  # whose stories count; none: everyone's
    scorer: str = ""  # a judge whose scores are learned as ratings; none: people's ratings
    teacher: str = ""  # weights that read as many word pieces: an asset, or a training's folder
    hidden: int = 0
    weight: float = 1.0
    positives: float = 1.0  # weight of a label 1
    repeat: int = 1  # times that an example stands in an epoch
    loss: Loss = "logistic"
    margin: float = 0.3
    negatives: bool = False
    with_prompt: bool = False  # the prompt is the story's first sentence
    sentences: tuple[int, int] = (0, 0)  # of a longer story, so many in a row; (0, 0): all
    most: int = 0  # stories that are taken; 0: all
    split: str = ""  # part of the stories: their id begins with it
    rated: bool = False  # stories that people rated are spoiled as well


@dataclass(frozen=True)
class Group:
    """Tasks that share a batch, and how many of their examples a step takes."""

    tasks: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Stage:
    """Steps with one schedule; `epochs` are those of the first group, where steps are not said."""

    groups: tuple[Group, ...]
    rate: float
    steps: int = 0
    epochs: float = 0.0
    layer_decay: float = 0.9
    epoch_decay: float = 0.0  # of the rate, an epoch; 0: it goes down in a line instead
    windows: int = 4  # of a long story, so many are drawn
    heads_only: bool = False  # the layers stay as they are


@dataclass(frozen=True)
class ScaleRecipe:
    """How a value is made of heads and surface features.

    `terms` are weights of `head` or `head.output`, or of `weights.head` of the reader beside. Heads
    are standardised over the texts of the tasks that it is fitted `to`, each `task` or
    `task.aspect`; without any they count as they are.
    The same opinions tell what the surface features are worth, which count with weight `surface`.
    What a story has to do with its prompt counts with weight `relation`: without a prompt there is
    no value.
    A `clipped` value stays within the `bounds` of the opinions' own scale.
    """

    terms: Mapping[str, float]
    to: tuple[str, ...] = ()
    surface: float = 0.0
    relation: float = 0.0
    without: tuple[str, ...] = ()  # surface features that are not looked at
    link: Link = "identity"
    bounds: tuple[float, float] = (1.0, 5.0)
    people: str = ""  # task whose texts people wrote: percentiles are among them
    also: tuple[str, ...] = ()  # other opinions that it is measured against


@dataclass(frozen=True)
class ReaderRecipe:
    """What the training of a reader depends on, besides its data."""

    kind: str
    tasks: Mapping[str, Task]
    stages: tuple[Stage, ...]
    encoder: str = "story_encoder"
    beside: str = ""  # weights that have met no opinion, whose heads scales may name as terms
    domain: tuple[str, ...] = ()  # data sets whose stories it knows; none: all with opinions
    left_out: tuple[str, ...] = ()  # data sets that tasks of unrated stories keep away from
    scales: Mapping[str, ScaleRecipe] = field(default_factory=dict)
    licence: str = "research use; see weights/LICENSE"
    seed: int = 1
    members: int = 1  # trainings whose weights are averaged
    window: int = 254
    overlap: bool = False  # windows are as long as can be
    layout: Layout = "plain"  # how texts are laid out before they are read
    dropout: float = 0.1
    head_dropout: float = 0.1
    weight_decay: float = 0.01
    warmup: float = 0.06
    clip: float = 1.0
    head_rate: float = 3.0  # of the heads, times that of the layers
    frozen_layers: int = 0  # the lowest so many stay as they are
    rank: int = 0  # of what an asset's matrices may differ by; 0: as they come out, in 8 bits
    held_out: float = 0.0  # share of the items that is evaluated, not learned from
    patience: int = 0  # evaluations without a better one before it stops; 0: never
    evaluate_every: int = 100  # steps; 0: an epoch
    checkpoint_every: int = 200
    report_every: int = 50

    def __post_init__(self) -> None:
        _check(self)

    @property
    def loop(self) -> LoopConfig:
        """What the loop needs to know."""
        return LoopConfig(
            self.clip, self.patience, self.evaluate_every, self.checkpoint_every, self.report_every
        )

    @property
    def heads(self) -> dict[str, Task]:
        """The first task of every head."""
        heads: dict[str, Task] = {}
        for task in self.tasks.values():
            heads.setdefault(task.head, task)
        return heads

    @property
    def opinion_tasks(self) -> list[str]:
        """Names of the tasks that learn from what people said."""
        return [name for name, task in self.tasks.items() if task.kind in OPINIONS]

    @property
    def related_tasks(self) -> list[str]:
        """Names of the tasks whose stories are related to their prompts, as a scale wants it."""
        return self._measured_tasks(scale for scale in self.scales.values() if scale.relation)

    @property
    def borrowed(self) -> list[str]:
        """Names of the heads of the reader beside that scales have as terms."""
        spelled = (term.partition(".") for scale in self.scales.values() for term in scale.terms)
        named = [head for name, _, head in spelled if self.beside and name == self.beside]
        return list(dict.fromkeys(named))

    @property
    def beside_tasks(self) -> list[str]:
        """Names of the tasks of whose stories the reader beside is asked."""
        asked = [
            scale
            for scale in self.scales.values()
            if self.beside in {term.partition(".")[0] for term in scale.terms}
        ]
        return self._measured_tasks(asked) if self.beside else []

    def _measured_tasks(self, scales: Iterable[ScaleRecipe]) -> list[str]:
        """Give the names of the tasks that scales are fitted to, or measured against."""
        spelled = {s for scale in scales for s in (*scale.to, *scale.also, scale.people)}
        named = {name.partition(".")[0] for name in spelled}
        return [name for name in self.tasks if name in named]

    @property
    def corpora(self) -> list[str]:
        """Names of the data sets whose stories tasks take without asking for opinions."""
        tasks = (task for task in self.tasks.values() if task.kind in UNRATED)
        return list(dict.fromkeys(name for task in tasks for name in task.data))

    @property
    def shared_stages(self) -> int:
        """How many of the first stages learn from no opinion: they are the same for all folds."""
        asked = set(self.opinion_tasks)
        with_opinions = [
            asked & {name for group in stage.groups for name in group.tasks}
            for stage in self.stages
        ]
        return next((n for n, tasks in enumerate(with_opinions) if tasks), len(self.stages))


def example_settings(recipe: ReaderRecipe) -> dict[str, Any]:
    """Give the settings that the examples of a recipe follow from, as plain values."""
    names = (
        "kind", "data", "aspects", "systems", "negatives", "with_prompt", "sentences", "most",
        "split",
    )  # fmt: skip
    tasks = {
        task: {name: _plain(getattr(settings, name)) for name in names}
        | ({"scorer": settings.scorer} if settings.scorer else {})
        | ({"rated": True} if settings.rated else {})
        | ({"relation": RELATION_VERSION} if task in recipe.related_tasks else {})
        | ({"beside": recipe.borrowed} if task in recipe.beside_tasks else {})
        for task, settings in recipe.tasks.items()
    }
    return {"encoder": recipe.encoder, "left_out": list(recipe.left_out), "tasks": tasks}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _check(recipe: ReaderRecipe) -> None:
    for stage in recipe.stages:
        if not stage.groups or (stage.steps <= 0 and stage.epochs <= 0) or stage.rate <= 0:
            raise SettingError("a stage needs groups, a rate, and steps or epochs", "mend it")
        if not 0 <= stage.epoch_decay <= 1:
            raise SettingError("epoch_decay must be from 0 to 1", "mend the recipe")
        for group in stage.groups:
            if unknown := sorted(set(group.tasks) - recipe.tasks.keys()):
                raise SettingError(f"a stage names the task {unknown[0]!r}", "it has none such")
            if group.rows < 1 or not group.tasks:
                raise SettingError("a group has tasks, and rows of at least 1", "mend the recipe")
    for name, task in recipe.tasks.items():
        if task.kind in ("ratings", "shares") and not task.aspects:
            raise SettingError(f"task {name} needs aspects", "name those of the data set")
        if task.scorer and task.kind != "ratings":
            raise SettingError(f"task {name} has a scorer", "only ratings may come of one")
        if task.rated and task.kind != "spoiled":
            raise SettingError(f"task {name} has rated = true", "only spoiled ones may")
        if (task.kind == "taught") != bool(task.teacher and task.aspects):
            problem = f"task {name}: what is taught needs a teacher and aspects, its heads"
            raise SettingError(problem, "name both, for such a task alone")
        if not task.data or task.repeat < 1:
            raise SettingError(f"task {name} needs data, and repeat of at least 1", "mend it")
    _check_scales(recipe)
    require_shares(recipe, "dropout", "head_dropout", "warmup", "weight_decay", "held_out")
    require_least(recipe, evaluate_every=0, checkpoint_every=1, report_every=1, head_rate=0)
    if not 8 <= recipe.window <= 8192 or recipe.clip <= 0 or recipe.rank < 0:
        problem = "window must be from 8 to 8192, clip above 0, rank at least 0"
        raise SettingError(problem, "mend the recipe")
    if not 1 <= recipe.members <= 100:
        raise SettingError("members must be from 1 to 100", "mend the recipe")
    if not recipe.tasks or not recipe.stages:
        raise SettingError("a recipe has tasks and stages", "see recipes/storyer.toml")


def _check_scales(recipe: ReaderRecipe) -> None:
    silent = recipe.tasks.keys() - set(recipe.opinion_tasks)
    for name, scale in recipe.scales.items():
        for spelled in (*scale.to, *scale.also, scale.people):
            if spelled.partition(".")[0] in silent:
                problem = f"scale {name} is held against {spelled!r}, of which nobody said anything"
                raise SettingError(problem, "name a task of pairs, ratings or shares")
    for name in recipe.beside_tasks:
        if recipe.tasks[name].kind != "ratings":
            problem = f"a scale that asks {recipe.beside} is measured against task {name}"
            raise SettingError(problem, "name tasks of ratings alone")
    for name in recipe.related_tasks:
        if recipe.tasks[name].kind != "ratings" or recipe.tasks[name].with_prompt:
            problem = f"a scale with a relation is fitted to task {name}"
            raise SettingError(problem, "name one of ratings of stories without their prompts")
