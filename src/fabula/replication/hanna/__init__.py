"""HANNA's paper again: every printed number beside what comes out here."""

from __future__ import annotations

from fabula.replication.hanna.paper import Printed, read_printed
from fabula.replication.hanna.publication import HannaPublication
from fabula.replication.hanna.replicate import replicate

__all__ = ["HannaPublication", "Printed", "read_printed", "replicate"]
