"""Judges as teachers: what a run holds of a judge, taught to a reader beside people's ratings.

A judge teaches the criteria on which a certificate says that it is beyond the baselines. It has a
head of its own: what people said and what a judge said are never one number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.core.table import ScoreTable
from fabula.learned.training.recipe import Group, ReaderRecipe, ScaleRecipe, Task
from fabula.meta.certificate import Certificate
from fabula.scoring.certificates import is_judge, list_certificates, verdict_words
from fabula.scoring.folder import read_run

TASK = "judge"  # and the head of the same name
SCALES = "criteria"
FEWEST = 10  # stories that a criterion must have values of
ENOUGH = "beyond baselines"


@dataclass(frozen=True)
class Teacher:
    """A judge whose scores a reader learns from.

    `signature` is that of the judge which made the run. `aspects` are the criteria that it teaches,
    `left_out` says why it does not teach the others; `verdicts` are the words of its certificates.
    """

    judge: str
    signature: str
    run: str
    stories: int
    aspects: tuple[str, ...]
    verdicts: dict[str, str]
    left_out: dict[str, str] = field(default_factory=dict)
    uncertified: bool = False

    def plain(self) -> dict[str, Any]:
        """Give it as the record of a training holds it."""
        plain = asdict(self)
        del plain["judge"]
        return plain


def find_teacher(
    run: Path, wanted: Sequence[str], *, judge: str = "", uncertified: bool = False
) -> Teacher:
    """Take a judge from a run, to teach the `wanted` criteria as far as certificates allow.

    Where `uncertified`, certificates are shown, and not asked for.
    """
    spec, signature = _choose_judge(run, judge)
    certificates = [
        one for one in list_certificates() if (one.judge, one.signature) == (spec, signature)
    ]
    scores = [score for score in ScoreTable.load(run) if score.scorer == spec and score.ok]
    counts = Counter(score.aspect for score in scores)
    left_out = dict.fromkeys(counts, "the reader has no such criterion")
    for aspect in wanted:
        left_out[aspect] = _find_obstacle(certificates, aspect, counts[aspect], uncertified)
    aspects = tuple(aspect for aspect in wanted if not left_out[aspect])
    if not aspects:
        raise InputError(f"{spec} has nothing to teach: {_join(left_out)}", _say_remedy(left_out))
    return Teacher(
        spec,
        signature,
        str(run),
        len({score.story for score in scores if score.aspect in aspects}),
        aspects,
        {aspect: verdict_words(certificates, aspect) for aspect in aspects},
        {aspect: why for aspect, why in left_out.items() if why},
        uncertified,
    )


def _choose_judge(run: Path, judge: str) -> tuple[str, str]:
    """Give the spec and the signature of a run's judge."""
    record = read_run(run)
    signatures = {
        entry["spec"]: signature
        for entry, signature in zip(record["metrics"], record["question"]["metrics"], strict=True)
        if is_judge(entry["spec"], entry["family"])
    }
    if not signatures:
        problem = f"{run} holds no scores of a judge"
        raise InputError(problem, "score the stories with one: -m \"judge(model='…')\"")
    if judge and judge not in signatures:
        raise InputError(f"{run} holds no scores of {judge}", closest(judge, signatures))
    if not judge and len(signatures) > 1:
        named = ", ".join(signatures)
        raise SettingError(f"{run} holds {len(signatures)} judges: {named}", "choose with --judge")
    chosen = judge or next(iter(signatures))
    return chosen, signatures[chosen]


def _find_obstacle(
    certificates: Sequence[Certificate], aspect: str, count: int, uncertified: bool
) -> str:
    """Say why a judge may not teach a criterion; "" where it may."""
    if not count:
        return "the run has no value of it"
    if count < FEWEST:
        return f"the run has {count} values of it, and {FEWEST} are the fewest"
    if uncertified:
        return ""
    verdicts = {one.verdict(aspect) for one in certificates if aspect in one.aspects}
    is_certified = ENOUGH in verdicts and "worse" not in verdicts
    return "" if is_certified else verdict_words(certificates, aspect)


def _join(reasons: dict[str, str]) -> str:
    return "; ".join(f"{aspect or 'its one value'}: {why}" for aspect, why in reasons.items())


def _say_remedy(reasons: dict[str, str]) -> str:
    if all(why.startswith("the ") for why in reasons.values()):
        return "score more stories, by a rubric with the reader's criteria"
    return "certify it (fabula judge certify), or say --uncertified"


def list_criteria(recipe: ReaderRecipe) -> list[str]:
    """Give the criteria that a recipe makes values of."""
    heads = [name.partition(".") for name in recipe.scales]
    return [aspect for head, _, aspect in heads if head == SCALES and aspect]


def add_teacher(recipe: ReaderRecipe, teacher: Teacher, *, share: float) -> ReaderRecipe:
    """Give a recipe in which a reader learns from a judge as well as from people.

    The judge has as many examples in a step as the people beside it. Of the weight that the heads
    have in a criterion's value, `share` is that of the judge's; the value stays on people's scale.
    """
    if TASK in recipe.tasks or TASK in recipe.heads:
        raise SettingError(f"the recipe has a task or head {TASK!r}", "give it another name")
    people = {name for name, task in recipe.tasks.items() if task.kind == "ratings"}
    stages = list(recipe.stages)
    learning = [n for n, one in enumerate(stages) if any(people & {*g.tasks} for g in one.groups)]
    if not learning:
        raise SettingError("the recipe learns from no ratings", "see recipes/criteria.toml")
    for number in learning:
        groups = stages[number].groups
        rows = max(group.rows for group in groups if people & {*group.tasks})
        stages[number] = replace(stages[number], groups=(*groups, Group((TASK,), rows)))
    scales = dict(recipe.scales)
    for aspect in teacher.aspects:
        name = f"{SCALES}.{aspect}"
        scales[name] = _add_term(scales[name], f"{TASK}.{aspect}", share)
    task = Task("ratings", (teacher.run,), TASK, teacher.aspects, scorer=teacher.judge)
    return replace(
        recipe,
        tasks={**recipe.tasks, TASK: task},
        stages=tuple(stages),
        scales=scales,
        domain=(*recipe.domain, teacher.run) if recipe.domain else (),
    )


def _add_term(scale: ScaleRecipe, term: str, share: float) -> ScaleRecipe:
    total = sum(scale.terms.values())
    terms = {name: weight * (1 - share) for name, weight in scale.terms.items()}
    return replace(scale, terms={**terms, term: total * share}, also=(*scale.also, term))
