"""Certificates of judges, as tables to print and sentences that say what a judge is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabula.core.story import count_text
from fabula.meta.certificate import (
    NO_CERTIFICATE,
    Agreement,
    Bias,
    Certificate,
    Figure,
    Rival,
    RivalKind,
    Verdict,
)
from fabula.meta.levels import LEVEL_WORDS, Level
from fabula.reports.correlations import NAMES
from fabula.reports.numbers import coefficient_text, number_text
from fabula.reports.tables import Cell, Table, Tone, Value, render
from fabula.scoring.certificates import find_certificates, missing_words, verdict_words

TONES: Mapping[Verdict, Tone] = {
    "beyond baselines": "good",
    "no better": "warn",
    "worse": "bad",
    "unknown": "quiet",
}
_FINDING_TONES: Mapping[str, Tone] = {"found": "bad", "not found": "good", "not measured": "quiet"}
_RIVALS: Mapping[RivalKind, str] = {
    "baseline": "best baseline",
    "column": "best published column",
    "reader": "learned reader",
}


def render_certificate(form: str, certificate: Certificate) -> str:
    """Write a certificate as table, json, jsonl, csv or latex."""
    rows = [agreement.row() for agreement in certificate.agreements]
    tables = [level_table(certificate, level) for level in certificate.levels]
    if certificate.biases:
        tables.append(bias_table(certificate.biases))
    notes = certificate_words(certificate)
    last = tables[-1]
    tables[-1] = replace(last, notes=[*last.notes, *notes], cite=certificate.signature)
    plain = {name: value for name, value in certificate.plain().items() if name != "agreements"}
    return render(form, rows, tables, {**plain, "words": notes})


def level_table(certificate: Certificate, level: Level) -> Table:
    """Table what was found at a level: a row a criterion, the judge beside its rivals."""
    lines = certificate.of(level)
    kinds = [kind for kind in _RIVALS if any(line.rival(kind) for line in lines)]
    others = [_RIVALS[kind] for kind in kinds if kind != "baseline"]
    head = ["criterion", "verdict", "judge", _RIVALS["baseline"], "gain", "ceiling", *others]
    rows = [_cells(line, kinds) for line in lines]
    deciding = "; the verdicts go by it" if level == certificate.deciding_level else ""
    return Table(
        head,
        rows,
        f"{certificate.judge} on {certificate.gold}: {NAMES[certificate.coefficient]}, {level} "
        f"level ({LEVEL_WORDS[level]}{deciding})",
        gap=2,
    )


def _cells(line: Agreement, kinds: Sequence[RivalKind]) -> list[Cell | Value]:
    baseline = line.rival("baseline")
    return [
        line.aspect or "gold",
        Cell(line.verdict, tone=TONES[line.verdict]),
        _figure_cell(line.agreement),
        _rival_cell(baseline),
        _figure_cell(baseline.gain if baseline else Figure(), sign=True),
        Cell(line.ceiling, _short(line.ceiling)),
        *(_rival_cell(line.rival(kind)) for kind in kinds if kind != "baseline"),
    ]


def _rival_cell(rival: Rival | None) -> Cell:
    if rival is None:
        return Cell(None)
    return Cell(rival.agreement.value, f"{_short(rival.agreement.value)} {rival.name}")


def _figure_cell(figure: Figure, *, sign: bool = False) -> Cell:
    if figure.value is None:
        return Cell(None)
    plus = "+" if sign and figure.value > 0 else ""
    ends = f" [{_short(figure.low)} {_short(figure.high)}]" if figure.is_known else ""
    return Cell(figure.value, f"{plus}{_short(figure.value)}{ends}")


def _short(value: float | None) -> str:
    return number_text(None) if value is None else coefficient_text(value)


def certificate_words(certificate: Certificate) -> list[str]:
    """Say in plain words what the judge is worth, and on what that rests."""
    groups: dict[str, list[str]] = {}
    for aspect, verdict in certificate.verdicts.items():
        groups.setdefault(verdict, []).append(aspect or "the gold")
    told = [f"{verdict} on {', '.join(groups[verdict])}" for verdict in TONES if verdict in groups]
    counts = [
        count_text(certificate.answered, "story", "stories"),
        *([count_text(certificate.items, "item")] if certificate.items else []),
        *([count_text(certificate.systems, "system")] if certificate.systems > 1 else []),
    ]
    level = f"{100 * (1 - certificate.alpha):g} %"
    return [
        f"Verdict: {'; '.join(told)}.",
        "Beyond baselines: its gain over the strongest trivial baseline (length, word variety) is "
        "above 0 with its whole interval; worse: below. The ceiling is what the raters' noise lets "
        "a perfect judge reach.",
        f"{', '.join(counts)}. Intervals: {level}, bootstrap over items, "
        f"{certificate.resamples:,} draws, seed {certificate.seed}. Made on {certificate.made}.",
        *([words] if (words := missing_words(certificate)) else []),
        *certificate.cautions,
    ]


def render_biases(form: str, judge: str, biases: Sequence[Bias]) -> str:
    """Write what a probe found as table, json, jsonl, csv or latex."""
    rows = [bias.row() for bias in biases]
    return render(form, rows, [bias_table(biases, judge)], {"judge": judge})


def bias_table(biases: Sequence[Bias], judge: str = "") -> Table:
    """Table what a probe found: a row a bias and criterion."""
    rows: list[list[Cell | Value]] = [
        [
            f"{bias.name} {bias.aspect}".rstrip(),
            bias.measure,
            _figure_cell(bias.figure, sign=True),
            bias.n,
            Cell(bias.finding, tone=_FINDING_TONES[bias.finding]),
            bias.words,
        ]
        for bias in biases
    ]
    title = f"Biases of {judge}" if judge else "Biases"
    return Table(["probe", "figure", "value", "n", "bias", "what it means"], rows, title, gap=2)


def list_table(certificates: Sequence[Certificate]) -> Table:
    """Table certificates: a row a judge and gold, its verdicts in words."""
    rows: list[list[Cell | Value]] = [
        [
            certificate.judge,
            certificate.gold,
            certificate.answered,
            _list_aspects(certificate, "beyond baselines"),
            _list_aspects(certificate, "no better"),
            _list_aspects(certificate, "worse"),
            certificate.made,
        ]
        for certificate in certificates
    ]
    head = ["judge", "gold", "stories", "beyond baselines", "no better", "worse", "made"]
    return Table(head, rows, gap=2)


def _list_aspects(certificate: Certificate, verdict: Verdict) -> str:
    aspects = [aspect or "gold" for aspect, own in certificate.verdicts.items() if own == verdict]
    return ", ".join(aspects) or "–"


def certificate_notes(
    columns: Sequence[tuple[str, str]], signatures: Mapping[str, str]
) -> list[str]:
    """Say of the judges among scorers and aspects what their values are worth, a line a judge.

    `signatures` are those of the scorers, by spec, where they are known.
    """
    aspects: dict[str, list[str]] = {}
    for scorer, aspect in columns:
        aspects.setdefault(scorer, []).append(aspect)
    notes = []
    for judge, certificates in find_certificates(aspects, signatures).items():
        words = {aspect: verdict_words(certificates, aspect) for aspect in aspects[judge]}
        if set(words.values()) == {NO_CERTIFICATE}:
            notes.append(
                f"{judge}: {NO_CERTIFICATE}. Nobody knows what its values are worth; fabula judge "
                "certify measures it."
            )
            continue
        told = ", ".join(f"{aspect or 'value'} {said}" for aspect, said in words.items())
        notes.append(f"{judge}: {told}.")
    return notes
