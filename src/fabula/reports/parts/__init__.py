"""Parts of a study report, one a file: each makes a section of what a study found."""

from __future__ import annotations

from types import ModuleType

from fabula.core.catalogue import Catalogue

PARTS: Catalogue[ModuleType] = Catalogue("part of a study", ("fabula.reports.parts",))
