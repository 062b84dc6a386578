"""The page of verified figures: what we claim, and what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fabula._version import __version__
from fabula.replication.checks._finding import Finding

_SIGNS = {
    "verified": "✓",
    "short": "✗ short",
    "reported": "reported",
    "not checked here": "not checked here",
}


def verified_page(findings: Sequence[Finding]) -> str:
    """Write the page in Markdown, part by part."""
    counts = Counter(finding.outcome for finding in findings)
    words = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    lines = [
        "# Verified figures",
        "",
        f"Written by `fabula verify` with Fabula {__version__}: {words}.",
    ]
    for part in dict.fromkeys(finding.part for finding in findings):
        lines += ["", f"## {part}", "", "| claim | wanted | found | |", "|---|---|---|---|"]
        lines += [_row(finding) for finding in findings if finding.part == part]
    return "\n".join(lines) + "\n"


def _row(finding: Finding) -> str:
    sign = _SIGNS[finding.outcome]
    return f"| {finding.claim} | {finding.wanted} | {finding.found} | {sign} |"
