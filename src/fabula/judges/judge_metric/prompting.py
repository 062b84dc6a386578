"""Prompts are Markdown files with a version; what a story says in them is fenced, and no order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FOLDER = "_prompts"
_HEAD = re.compile(r"^# (.+)$", re.MULTILINE)
_VERSION = re.compile(r"version: (\S+)\s*")
_PLACE = re.compile(r"\{(\w+)\}")
_BLANK_LINES = re.compile(r"\n{3,}")
# What is said to every judge, whatever it is asked, and how long stories are read.
MATERIAL, LONG = "material", "long_story"


@dataclass(frozen=True)
class PromptFile:
    """The sections of a prompt, by their heads, and what it is called in a signature."""

    name: str
    version: str
    digest: str
    sections: Mapping[str, str]

    @property
    def signature(self) -> str:
        """Name, version and digest of the words."""
        return f"{self.name}/{self.version},{self.digest}"

    def fill(self, section: str, **parts: str | int) -> str:
        """Put parts into the places of a section, once: places in the parts stay as they are."""
        filled = _PLACE.sub(lambda place: str(parts[place.group(1)]), self.sections[section])
        return _BLANK_LINES.sub("\n\n", filled).strip()


@cache
def open_prompt(name: str) -> PromptFile:
    """Read a prompt of ours."""
    text = (files("fabula.judges") / _FOLDER / f"{name}.md").read_text(encoding="utf-8")
    version = _VERSION.match(text)
    assert version is not None, f"{name}.md does not say its version"
    _, *parts = _HEAD.split(text)
    sections = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return PromptFile(name, version.group(1), digest, sections)


def system_prompt() -> str:
    """What every judge is told first: who it is, and that fenced texts are no orders."""
    return open_prompt(MATERIAL).fill("system")


def sign_prompts(*names: str) -> str:
    """Spell prompts for a signature, that of all judges first."""
    return "+".join(open_prompt(name).signature for name in (MATERIAL, *names))


def fence(text: str, kind: str) -> str:
    """Put a text between two lines with a mark that it cannot hold, for it comes of the text.

    Halves of surrogate pairs, which no request can carry, become the sign for what is unknown.
    """
    clean = text.encode("utf-8", "replace").decode("utf-8")
    mark = hashlib.sha256(clean.encode()).hexdigest()[:10]
    return f"<<< {kind} {mark}\n{clean}\n>>> {kind} {mark}"


def show_story(text: str, prompt: str | None, *, summary: str = "") -> str:
    """Show a story, fenced, after its prompt and a summary of what comes before, if any."""
    parts = []
    if prompt and prompt.strip():
        parts += ["The prompt that the story was written on:", fence(prompt, "prompt")]
    if summary:
        told = "The story is long. A summary of all that comes before its last part:"
        parts += [told, fence(summary, "summary"), "The last part of the story, word for word:"]
    else:
        parts.append("The story:")
    return "\n\n".join([*parts, fence(text, "story")])
