"""HANNA's paper again: every printed number beside what comes out here."""

from __future__ import annotations

from fabula.scoring.hanna.printed import Printed, Replicated, read_printed
from fabula.scoring.hanna.replicate import replicate

__all__ = ["Printed", "Replicated", "read_printed", "replicate"]
