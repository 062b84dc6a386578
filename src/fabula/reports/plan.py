"""A plan as a table of designs, and sentences that say what it takes and what was assumed."""

from __future__ import annotations

from dataclasses import asdict

from fabula.core.story import count_text
from fabula.meta.plans.plan import Need, Plan, Planned
from fabula.reports.tables import Cell, Table, TableColumn, Value, render


def render_plan(form: str, plan: Plan) -> str:
    """Write a plan as table, json, jsonl, csv or latex."""
    words = plan_words(plan)
    raters = sorted(set(plan.design.raters))
    head: list[str | TableColumn] = [
        TableColumn("items", align="left"),
        *(count_text(count, "rater") for count in raters),
    ]
    body: list[list[Cell | Value]] = [
        [items, *(_cell(plan.cell(items, count)) for count in raters)]
        for items in sorted(set(plan.design.items))
    ]
    record = {
        "question": plan.question,
        "effect": plan.effect,
        "assumed": plan.assumed,
        "design": asdict(plan.design),
        "needs": [asdict(need) for need in plan.needs],
        "words": words,
    }
    return render(form, plan.rows(), [Table(head, body, _title(plan), words)], record)


def plan_words(plan: Plan) -> list[str]:
    """Say in plain words what the wishes take and what was assumed."""
    wishes = dict.fromkeys(need.wish for need in plan.needs)
    return [*(_wish(wish, plan) for wish in wishes), *_assumptions(plan), _method(plan)]


def _title(plan: Plan) -> str:
    what = {
        "difference": f"a difference of {plan.effect:g} between two systems' means",
        "correlation": f"a correlation of {plan.effect:g} with the true quality",
        "two correlations": f"a lead of {plan.effect:g} over another metric's correlation",
    }[plan.question]
    return f"Power to find {what}, ± half-width of its interval"


def _wish(wish: str, plan: Plan) -> str:
    needs = [need for need in plan.needs if need.wish == wish]
    by_raters = needs[: len(set(plan.design.raters))]
    by_items = needs[len(by_raters) :]
    parts = ", ".join(f"{need.items:,} with {need.raters:,}" for need in by_raters)
    words = [
        f"For {wish} it takes items: {parts} {'rater' if by_raters[-1].raters == 1 else 'raters'}."
    ]
    if enough := [need for need in by_items if need.raters is not None]:
        words.append(f"Raters it takes: {', '.join(map(_raters, enough))}.")
    if never := [f"{need.items:,}" for need in by_items if need.raters is None]:
        words.append(f"With {' or '.join(never)} items no number of raters will do.")
    return " ".join(words)


def _raters(need: Need) -> str:
    return f"{need.raters:,} with {need.items:,} items"


def _assumptions(plan: Plan) -> list[str]:
    known = plan.assumed
    icc = f"ICC(1,1) of one rating {known['icc']:.2f}"
    if plan.question == "difference":
        words = [f"Assumed: {icc}, standard deviation {known['sd']:.2f}."]
        if known["note"]:
            words.append(f"In the ratings, {known['note']}; power may be understated.")
        if plan.design.systems > 2:
            words.append(
                f"With {plan.design.systems} systems every pair is tested: alpha is parted over "
                "the pairs."
            )
        return words
    more = f", metrics correlate {known['between']:.2f} with each other" if known["versus"] else ""
    systems = count_text(plan.design.systems, "system")
    return [f"Assumed: {icc}{more}; the stories of {systems}, pooled, are independent."]


def _method(plan: Plan) -> str:
    test = {
        "difference": "sign-flip test",
        "correlation": "t test of a correlation",
        "two correlations": "Williams' test",
    }[plan.question]
    widest = max((cell.high - cell.low) / 2 for cell in plan.cells)
    return (
        f"{test[0].upper()}{test[1:]} at {plan.design.alpha:g} in {plan.design.studies:,} "
        f"simulated studies a cell, seed {plan.design.seed}: power is known to ±{widest:.3f}."
    )


def _cell(cell: Planned) -> Cell:
    return Cell(cell.power, f"{cell.power:.2f} ±{cell.half_width:.3g}")
