"""What a filter did to a run, step by step, as a table to print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.core.story import count_text
from fabula.reports.tables import Table, TableColumn, render


def render_filtered(form: str, told: Mapping[str, Any], remarks: tuple[str, ...] = ()) -> str:
    """Write the steps as table, json, jsonl, csv or latex; `told` is what provenance says."""
    steps = told["steps"]
    records = [
        {
            "step": step["step"],
            "what": _say_what(step),
            "in": step["in"],
            "out": step["out"],
            "no_value": step["no_value"],
        }
        for step in steps
    ]
    table = Table(
        ["step", TableColumn("what", prose=True), "in", "out", "no value"],
        [list(record.values()) for record in records],
        f"{count_text(told['stories'], 'story', 'stories')} of {told['run']['stories']:,}",
        [*_say_systems(told), *_say_missing(steps), *remarks],
    )
    about = {name: part for name, part in told.items() if name != "steps"}
    return render(form, records, [table], {**about, "remarks": list(remarks)})


def _say_what(step: Mapping[str, Any]) -> str:
    """Say in words what a step did."""
    each = f" of each {step['per']}" if "per" in step else ""
    if step["step"] == "keep":
        return str(step["condition"])
    if step["step"] == "dedupe":
        return f"overlap {step['overlap']:g} or more; {step['stays']} stays"
    if step["step"] == "top":
        return f"the best {step['top']}{each} by {step['by']}"
    within = f", alike from {step['quantiles']} parts by {step['by']}" if "by" in step else ""
    return f"{step['sample']:,}{each} at random{within}"


def _say_systems(told: Mapping[str, Any]) -> list[str]:
    systems = told["systems"]
    if len(systems) < 2:
        return []
    return ["; ".join(f"{name or 'nameless'} {count:,}" for name, count in systems.items())]


def _say_missing(steps: list[Mapping[str, Any]]) -> list[str]:
    """Say what became of stories that a step could not judge."""
    words = []
    for step in steps:
        if not step["no_value"]:
            continue
        count = count_text(step["no_value"], "story", "stories")
        if step["step"] == "keep":
            became = "kept" if step["undecided"] == "keep" else "dropped"
            words.append(f"{count} lack a value for {step['condition']}, and were {became}")
        elif step["step"] == "dedupe":
            words.append(f"{count} lack {step['best']}: of near ones they are the last to stay")
        else:
            words.append(f"{count} lack {step['by']}, and could not be taken")
    return words
