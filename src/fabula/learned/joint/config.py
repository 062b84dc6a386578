"""What the folder of a joint training says of itself: an encoder-decoder with StoryER's heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, UnknownName, closest
from fabula.core.files import write_json
from fabula.core.plain import from_plain, read_json
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.reader.config import (
    PERCENTILE_POINTS,
    REMEDY,
    Head,
    Pin,
    ReaderConfig,
    Scale,
    Term,
    check_domain,
)
from fabula.text.detokenise import detokenise
from fabula.text.layout import Layout, lay_out
from fabula.text.posts import NEWLINE_TAG, normalise_post

SEPARATOR = "<sep>"  # between the words of an aspect and the story
# What StoryER's tokeniser knows beside the backbone's words: a token each.
SIGNS = (SEPARATOR, NEWLINE_TAG.strip())

FILE = "joint.json"
HEADS_FILE = "heads.safetensors"
FORMAT = 1
_MIDDLE = 3.0
PREFERENCE, RATINGS, CONFIDENCE = "preference", "aspects", "confidence"
OUTPUTS = {PREFERENCE: ("preference",), RATINGS: ASPECTS, CONFIDENCE: ASPECTS}

# How StoryER's model is told which aspect to speak of.
ASPECT_WORDS = dict(
    zip(
        ASPECTS,
        (
            "opening/beginning", "middle/twist/flow", "ending", "character shaping",
            "scene description", "heartwarming/touch", "sad/crying/tear", "horror/scary",
            "funny/hilarious/laugh", "novel/idea",
        ),
        strict=True,
    )
)  # fmt: skip


@dataclass(frozen=True)
class JointConfig:
    """The content of `joint.json`.

    `heads` are those that were trained. `max_tokens` are read at once, added signs counted, and
    comments have at most `comment_tokens`, as those that were learned from. Stories are read in the
    `layout` of these: without the notes and mark-up of posts where the training was without.
    `percentiles` are the preference logits of human stories at 0, 1, … 100 %; `usual` is what
    raters gave each aspect as a rule, from 1 to 5.
    """

    backbone: str
    max_tokens: int
    heads: tuple[str, ...]
    comments: bool = True  # whether it learned to write them
    comment_tokens: int = 1000
    negatives: bool = False  # whether it saw stories made bad on purpose
    layout: Layout = "given"
    percentiles: tuple[float, ...] | None = None
    usual: Mapping[str, float] = field(default_factory=dict)
    domain: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "storyer_joint"
    format: int = FORMAT


def read_joint_config(folder: Path) -> JointConfig:
    """Read `joint.json` of a folder; a field that will not do is named."""
    file = folder / FILE
    if not file.exists():
        raise InputError(f"{folder} holds no joint training: no {FILE}", REMEDY)
    config = from_plain(
        JointConfig, read_json(file, remedy=REMEDY), str(file), error=InputError, remedy=REMEDY
    )
    if config.format != FORMAT or not set(config.heads) <= OUTPUTS.keys() or config.max_tokens < 8:
        raise InputError(f"{file}: format, heads or max_tokens will not do", REMEDY)
    if config.layout == "plain":
        problem = f"{file}: layout is 'plain', and a joint model reads the ends of lines"
        raise InputError(problem, REMEDY)
    if config.percentiles is not None and len(config.percentiles) != PERCENTILE_POINTS:
        raise InputError(f"{file}: percentiles must be {PERCENTILE_POINTS} numbers", REMEDY)
    check_domain(config.domain, file)
    return config


def write_joint_config(folder: Path, config: JointConfig) -> None:
    """Write `joint.json`, whole or not at all."""
    write_json(folder / FILE, asdict(config))


def reader_config(config: JointConfig) -> ReaderConfig:
    """Give it as a reader's: heads, and the scales that metrics ask for."""
    return ReaderConfig(
        kind=config.kind,
        encoder=Pin(config.backbone, ""),
        window=config.max_tokens,
        heads={name: Head(OUTPUTS[name]) for name in config.heads},
        scales=_scales(config),
        domain=config.domain,
        training=config.training,
        layout=config.layout,
    )


def _scales(config: JointConfig) -> dict[str, Scale]:
    scales: dict[str, Scale] = {}
    if PREFERENCE in config.heads:
        scale = Scale((Term(PREFERENCE),), link="logistic", percentiles=config.percentiles)
        scales |= {PREFERENCE: scale} | ({"preference_n": scale} if config.negatives else {})
    for place, name in enumerate(ASPECTS):
        if RATINGS in config.heads:
            usual = config.usual.get(name, _MIDDLE)
            # A raw value of 0 is the usual rating.
            scales[f"{RATINGS}.{name}"] = Scale((Term(RATINGS, place, mean=usual),), shift=usual)
        if CONFIDENCE in config.heads:
            scales[f"{CONFIDENCE}.{name}"] = Scale((Term(CONFIDENCE, place),))
    return scales


def tag_newlines(text: str) -> str:
    r"""Write a text as StoryER's models read it, with `<\newline>` for the end of a line."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return normalise_post(detokenise(plain), newline=NEWLINE_TAG)


def comment_input(story: str, aspect: str, layout: Layout = "given") -> str:
    """Write what a comment is asked for by: the aspect's words, a sign, the story in a layout."""
    if aspect not in ASPECT_WORDS:
        raise UnknownName(f"no aspect is called {aspect!r}", closest(aspect, ASPECT_WORDS))
    return f"{ASPECT_WORDS[aspect]} {SEPARATOR} {tag_newlines(lay_out(story, layout))}"
