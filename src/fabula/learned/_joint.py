"""What the folder of a joint training says of itself: an encoder-decoder with StoryER's heads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, UnknownName, closest
from fabula.learned._about import About, Head, Pin, Scale, Term
from fabula.learned._names import ASPECTS
from fabula.learned._plain import read_plain
from fabula.text.posts import NEWLINE_TAG, normalise_post
from fabula.text.respaced import respaced

FILE = "joint.json"
HEADS_FILE = "heads.safetensors"
FORMAT = 1
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
_REMEDY = "train it again, or take another folder"


@dataclass(frozen=True)
class JointAbout:
    """The content of `joint.json`.

    `heads` are those that were trained. `max_tokens` are read at once, added signs counted.
    `percentiles` are the preference logits of human stories at 0, 1, … 100 %.
    """

    backbone: str
    max_tokens: int
    heads: tuple[str, ...]
    comments: bool = True  # whether it learned to write them
    negatives: bool = False  # whether it saw stories made bad on purpose
    percentiles: tuple[float, ...] | None = None
    domain: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "storyer_joint"
    format: int = FORMAT


def is_joint(folder: Path) -> bool:
    """Whether a folder holds what a joint training left."""
    return (folder / FILE).is_file()


def read_joint(folder: Path) -> JointAbout:
    """Read `joint.json` of a folder; a field that will not do is named."""
    file = folder / FILE
    try:
        about = read_plain(JointAbout, json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InputError(f"{folder} holds no joint training: no {FILE}", _REMEDY) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}", _REMEDY) from None
    if about.format != FORMAT or not set(about.heads) <= OUTPUTS.keys() or about.max_tokens < 8:
        raise InputError(f"{file}: format, heads or max_tokens will not do", _REMEDY)
    if about.percentiles is not None and len(about.percentiles) != 101:
        raise InputError(f"{file}: percentiles must be 101 numbers", _REMEDY)
    return about


def write_joint(folder: Path, about: JointAbout) -> None:
    """Write `joint.json`, whole or not at all."""
    partial = folder / f".{FILE}.part"
    text = json.dumps(asdict(about), indent=1, ensure_ascii=False, allow_nan=False)
    partial.write_text(f"{text}\n", encoding="utf-8")
    partial.replace(folder / FILE)


def reader_about(about: JointAbout) -> About:
    """Give it as a reader's: heads, and the scales that metrics ask for."""
    return About(
        kind=about.kind,
        encoder=Pin(about.backbone, ""),
        window=about.max_tokens,
        heads={name: Head(OUTPUTS[name]) for name in about.heads},
        scales=_scales(about),
        domain=about.domain,
        training=about.training,
    )


def _scales(about: JointAbout) -> dict[str, Scale]:
    found: dict[str, Scale] = {}
    if PREFERENCE in about.heads:
        one = Scale((Term(PREFERENCE),), link="logistic", percentiles=about.percentiles)
        found |= {PREFERENCE: one} | ({"preference_n": one} if about.negatives else {})
    for head in (RATINGS, CONFIDENCE):
        if head in about.heads:
            scales = (Scale((Term(head, place),)) for place in range(len(ASPECTS)))
            found |= {f"{head}.{name}": one for name, one in zip(ASPECTS, scales, strict=True)}
    return found


def tagged(text: str) -> str:
    r"""Write a text as StoryER's models read it, with `<\newline>` for the end of a line."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return normalise_post(respaced(plain), newline=NEWLINE_TAG)


def comment_input(story: str, aspect: str) -> str:
    """Write what a comment is asked for by: the aspect's words, a sign, the story."""
    if aspect not in ASPECT_WORDS:
        raise UnknownName(f"no aspect is called {aspect!r}", closest(aspect, ASPECT_WORDS))
    return f"{ASPECT_WORDS[aspect]} <sep> {tagged(story)}"
