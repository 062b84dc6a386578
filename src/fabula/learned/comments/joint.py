"""Comments by a joint training's decoder, which has read the story, with the line they rest on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fabula.learned.comments._checked import problem_with
from fabula.learned.comments.composed import Band
from fabula.learned.comments.evidence import Evidence
from fabula.learned.comments.written import Commenter
from fabula.learned.joint.config import comment_input

_TOKENS = 60


@dataclass(frozen=True)
class JointCommenter(Commenter):
    """Asks StoryER's decoder for a comment on an aspect; its first sentence stands by the quote.

    It may use the story's words and an editor's. Where it does not pass, a comment is composed.
    """

    def _said(self, text: str, evidence: Evidence, band: Band, *, seed: int) -> str:
        prompt = comment_input(text, evidence.aspect)
        [said] = self.generator.generate([prompt], max_tokens=_TOKENS, seed=seed)
        return said

    def _beginning(self, evidence: Evidence, band: Band) -> str:
        return ""

    def _problem(self, written: str, said: str, text: str, evidence: Evidence, band: Band) -> str:
        whole = replace(evidence, quote=text)
        return problem_with(written, said, text, evidence=whole, band=band)
