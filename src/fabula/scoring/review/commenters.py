"""Who writes the comments of a review, if not rules: a language model, or StoryER's joint model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError, SettingError, UserError
from fabula.learned.comments.composer import Comment, compose_comment
from fabula.learned.comments.evidence import Evidence
from fabula.learned.joint.config import FILE as JOINT_FILE
from fabula.learned.joint.config import JointConfig, read_joint_config
from fabula.learned.reader.fake import FAKE
from fabula.learned.reader.inference import check_folder, find_folder, load_reader
from fabula.learned.reader.metric import BOTH
from fabula.scoring.review.parts import Review

if TYPE_CHECKING:
    from fabula.learned.comments.writer import Commenter
    from fabula.learned.joint.network import JointWriter

SPOKEN = 5  # aspects that a joint model shows, as StoryER's demonstration does


def find_joint(weights: str) -> JointConfig | None:
    """Give what the folder of a joint training says of itself; None of other weights."""
    if weights in (FAKE, BOTH) or not (folder := find_folder(weights)).is_dir():
        return None
    check_folder(folder)
    return read_joint_config(folder) if (folder / JOINT_FILE).is_file() else None


def choose_spoken(review: Review, joint: JointConfig) -> Review:
    """Let a joint model speak of the aspects that it is surest of; note how well it knew others."""
    sure = [aspect for aspect in review.aspects if math.isfinite(aspect.confidence)]
    sure.sort(key=lambda aspect: -aspect.confidence)
    words = _describe_record(joint)
    return replace(
        review,
        spoken=tuple(aspect.name for aspect in sure[:SPOKEN]),
        notes=(*review.notes, *([words] if words and not review.unlike else [])),
    )


def _describe_record(joint: JointConfig) -> str:
    """Say what was measured on prompts that were held out of a joint training."""
    best: Any = joint.training.get("best")
    figures = best.get("held_out", {}) if isinstance(best, dict) else {}
    told = {
        "accuracy": "it preferred the better liked of two stories in {:.0%} of pairs",
        "rating": "its ratings agreed with readers’ at ρ {:.2f}",
        "recall_at_3": "three guesses named {:.0%} of the aspects that readers spoke of",
    }
    said = [words.format(figures[name]) for name, words in told.items() if name in figures]
    return f"weights: on held-out prompts {', '.join(said)}" if said else ""


@dataclass
class WrittenComments:
    """Comments by a language model or by the folder of a joint training, loaded when they begin.

    A model that cannot be had is told to `on_missing`, and comments are composed. What a joint
    model says is checked, and composed where it does not pass, unless it is wanted `raw`.
    """

    name: str
    on_missing: Callable[[UserError], None] | None = None
    raw: bool = False
    _commenter: Commenter | None = field(default=None, repr=False)

    def deadline(self) -> float:
        """Load who writes; give when the time is spent."""
        try:
            self._commenter = _load_commenter(self.name, raw=self.raw)
        except (InputError, SettingError):
            raise  # A name that names nothing is a mistake, not a model that is not here yet.
        except UserError as error:
            if self.on_missing:
                self.on_missing(error)
            return math.inf
        return self._commenter.deadline()

    def comment(
        self,
        text: str,
        evidence: Evidence,
        rating: float,
        *,
        until: float,
        usual: float = 3.0,
        seed: int = 0,
    ) -> Comment | None:
        """Give a comment on a story's aspect; None without evidence, unless it is wanted raw."""
        if self._commenter is None:
            return compose_comment(text, evidence, rating, usual=usual, seed=seed)
        return self._commenter.comment(text, evidence, rating, until=until, usual=usual, seed=seed)


def _load_commenter(name: str, *, raw: bool) -> Commenter:
    from fabula.learned.comments.writer import Commenter, JointCommenter, RawCommenter

    if Path(name).is_dir():
        writer = _open_writer(Path(name))
        return (RawCommenter if raw else JointCommenter)(writer, layout=writer.config.layout)
    if raw:
        problem = f"{name} is no folder of a joint training, whose comments may be raw"
        raise SettingError(problem, "say --comments written, or name such a folder")
    from fabula.core.model import Generator
    from fabula.models import load_model, need

    return Commenter(need(load_model(name), Generator))


def _open_writer(folder: Path) -> JointWriter:
    """Give the writer of a joint training, on the weights that have read the story, if they did."""
    from fabula.learned.joint.network import JointSource, JointWriter

    config = read_joint_config(folder)
    if not config.comments:
        problem = f"{folder} was trained without comments, and writes none"
        raise SettingError(problem, "train with comments = true, or say --comments composed")
    reader = load_reader(str(folder))
    if not isinstance(reader.source, JointSource):
        raise InputError(f"{folder} holds no joint training", "name the folder of one")
    return JointWriter(reader.source.network, config, reader.signature)
