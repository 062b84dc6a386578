"""HANNA's paper again: every printed number beside what comes out here."""

from __future__ import annotations

from fabula.replication.hanna.printed import Printed, read_printed
from fabula.replication.hanna.replicate import replicate
from fabula.reports.published import PrintedValue

__all__ = ["Printed", "PrintedValue", "read_printed", "replicate"]
