"""Certificates of judges: made by asking a judge about rated stories, kept as files, found again.

A certificate is found by the judge's signature: spec, prompt, model, decoding and seed. Those that
come with Fabula lie beside this file, those that a user made in the data folder.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from fabula._version import __version__
from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError, UserError, closest
from fabula.core.files import data_home, write_json
from fabula.core.metric import Metric
from fabula.core.plain import from_plain, read_json
from fabula.core.protocols import Progress
from fabula.core.score import Score
from fabula.core.story import count_text
from fabula.core.table import ScoreTable, read_scores
from fabula.judges.judge_metric import JudgeMetric
from fabula.meta.certificate import NO_CERTIFICATE, VERSION, Certificate
from fabula.meta.certifying import certify_scores, list_certificate_cautions
from fabula.meta.study import Study
from fabula.models.asking.spending import need_all_asked
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import add_baselines, evaluate
from fabula.scoring.folder import RUN, read_run
from fabula.scoring.study_scores import choose_items

FOLDER = "certificates"
JUDGES = ("judge", "judge_checklist", "judge_pairwise", "judge_committee")
# The reader that stands beside a judge, and the data sets whose ratings it learned from.
READER, _LEARNED_FROM = "criteria", ("hanna",)
_SIGN = re.compile(r"[^\w.-]+")
_LONGEST_STEM = 60


def make_certificate(
    judge: str,
    dataset: Dataset,
    study: Study,
    *,
    items: int = 0,
    with_reader: bool = True,
    cache: bool | Path = True,
    progress: Progress | None = None,
) -> Certificate:
    """Ask a judge about the rated stories, or take what it said of them, and certify it.

    `judge` is a spec, or a scorer whose scores stand in the data set and which is not asked again.
    Of `items` so many are taken, of all without. With `with_reader` the embedded reader stands
    beside it, where its weights are at hand.
    """
    dataset = choose_stories(dataset, items, study)
    metric = None if judge in dataset.scores.scorers else METRICS.build(judge)
    if metric is not None:
        judge, dataset = metric.spec, _ask(metric, dataset, cache, progress)
        need_all_asked("certificate")
    dataset = add_baselines(dataset)
    if with_reader and judge.partition("(")[0] != READER:
        dataset = _add_reader(dataset, cache)
    signature = metric.identity if metric is not None else _sign_scorer(judge, dataset)
    return replace(_certify(judge, dataset, study), signature=signature)


def estimate_certificate(judge: str, dataset: Dataset, cache: bool | Path = True) -> None:
    """Ask about stories on a dry account, which tells what a certificate would cost."""
    _ask(METRICS.build(judge), dataset, cache)


def _certify(judge: str, dataset: Dataset, study: Study) -> Certificate:
    """Certify a scorer by what the data set holds of it; the signature is left open."""
    agreements = certify_scores(judge, dataset, study)
    asked = {story.id for story in dataset.stories}
    own = [score for score in dataset.scores if score.scorer == judge and score.story in asked]
    return Certificate(
        judge=judge,
        signature="",
        gold=dataset.name,
        made=datetime.now(UTC).date().isoformat(),
        fabula=__version__,
        stories=len(dataset.stories),
        items=dataset.counts["items"],
        systems=dataset.counts["systems"],
        answered=len({score.story for score in own if score.ok}),
        coefficient=study.coefficients[0],
        resamples=study.resamples,
        seed=study.seed,
        alpha=study.alpha,
        agreements=agreements,
        missing=_count_missing(own),
        cautions=(*list_certificate_cautions(agreements, dataset), *_warn(dataset)),
    )


def _sign_scorer(judge: str, dataset: Dataset) -> str:
    """Sign a judge that was not asked here: as its spec does, or as a column of the data set."""
    if judge.partition("(")[0] in METRICS:
        return METRICS.build(judge).identity
    return f"{judge}|data:{dataset.name}"


def join_run(dataset: Dataset, judge: str, folder: Path) -> Dataset:
    """Add what a run holds of a judge on the stories of a data set, matched by their ids."""
    known = {story.id for story in dataset.stories}
    metric = METRICS.build(judge)
    spec = metric.spec
    _need_same_judge(metric, folder)
    held = list(read_scores(folder))
    scorers = {score.scorer for score in held}
    if spec not in scorers:
        raise InputError(f"{folder} holds no scores of {spec}", closest(spec, scorers))
    scores = [score for score in held if score.scorer == spec and score.story in known]
    if not scores:
        problem = f"{folder} scored no story of {dataset.name}: none shares an id"
        raise InputError(problem, "score the stories of the gold itself")
    card = ScorerCard(metric.card.family, metric.direction, metric.reads)
    return _add_scores(dataset, spec, scores, card)


def _need_same_judge(metric: Metric, folder: Path) -> None:
    """Refuse a run whose judge had another prompt or model: a certificate is signed by today's."""
    if not (folder / RUN).is_file():
        return
    record = read_run(folder)
    specs = [entry["spec"] for entry in record["metrics"]]
    identities = dict(zip(specs, record["question"]["metrics"], strict=True))
    if identities.get(metric.spec, metric.identity) != metric.identity:
        problem = (
            f"{folder} was judged by another {metric.spec}: prompt or model have changed since"
        )
        raise InputError(problem, "score the stories again")


def choose_stories(dataset: Dataset, items: int, study: Study) -> Dataset:
    """Leave out those who wrote the references, whom nobody compares, and take so many items."""
    without = () if study.references else dataset.card.reference_systems
    kept = tuple(story for story in dataset.stories if (story.system or "") not in without)
    dataset = replace(dataset, stories=kept)
    return choose_items(dataset, items) if items else dataset


def _ask(
    metric: Metric, dataset: Dataset, cache: bool | Path, progress: Progress | None = None
) -> Dataset:
    readable = [story for story in dataset.stories if story.text]
    if not readable:
        remedy = "give the file of its texts as well"
        raise InputError(f"{dataset.name} has no texts that {metric.name} could read", remedy)
    scores = evaluate(readable, metric, cache=cache, progress=progress)
    card = ScorerCard(metric.card.family, metric.direction, metric.reads)
    return _add_scores(dataset, metric.spec, scores, card)


def _add_scores(dataset: Dataset, name: str, scores: Iterable[Score], card: ScorerCard) -> Dataset:
    # What a data set says of other stories may stand in its table still: stories were chosen.
    known = {story.id for story in dataset.stories}
    others = [score for score in dataset.scores if score.story in known]
    table = ScoreTable(dataset.stories, [*others, *scores])
    return replace(dataset, scores=table, scorers={**dataset.scorers, name: card})


def _add_reader(dataset: Dataset, cache: bool | Path) -> Dataset:
    """Let the embedded reader rate the same stories, where its weights are at hand."""
    reader = METRICS.build(READER)
    rated = {score.aspect for score in dataset.ratings}
    if reader.absence or not rated & {*reader.aspects} or not any(s.text for s in dataset.stories):
        return dataset
    return _ask(reader, dataset, cache)


def _count_missing(scores: Sequence[Score]) -> dict[str, int]:
    """Count by their reasons the stories of which a judge says nothing."""
    answered = {score.story for score in scores if score.ok}
    why = {score.story: str(score.status) for score in scores if score.story not in answered}
    return dict(sorted(Counter(why.values()).items()))


def _warn(dataset: Dataset) -> list[str]:
    if dataset.name in _LEARNED_FROM and READER in dataset.scorers:
        return [f"{READER} learned from {dataset.name} itself: its agreement here flatters it."]
    return []


def certificates_home() -> Path:
    """Folder of the certificates that a user made."""
    return data_home() / FOLDER


def name_certificate(certificate: Certificate) -> str:
    """Name its file: what people call the judge, the gold, and a digest of the signature."""
    stem = _SIGN.sub("_", certificate.judge).strip("_")[:_LONGEST_STEM]
    gold = _SIGN.sub("_", Path(certificate.gold).stem).strip("_")
    return f"{stem}-{gold}-{digest_signature(certificate.signature)}.json"


def digest_signature(signature: str) -> str:
    """Digest of a judge's signature."""
    return hashlib.sha256(signature.encode()).hexdigest()[:12]


def save_certificate(certificate: Certificate, path: Path | None = None) -> Path:
    """Write a certificate where reports find it, or to a path."""
    target = path or certificates_home() / name_certificate(certificate)
    write_json(target, certificate.plain())
    return target


def read_certificate(path: Path) -> Certificate:
    """Read a certificate; one of a later kind, or what is none, is refused."""
    plain = read_json(path)
    if not isinstance(plain, dict) or "judge" not in plain:
        raise InputError(f"{path} is no certificate", "fabula judge certify makes them")
    if plain.get("version") != VERSION:
        problem = f"{path} is a certificate of version {plain.get('version')}, not {VERSION}"
        raise InputError(problem, "certify the judge again")
    fields = {name: value for name, value in plain.items() if name != "verdicts"}
    return from_plain(Certificate, fields, str(path), error=InputError)


def list_certificates(folder: Path | None = None) -> list[Certificate]:
    """Give all certificates: the user's, then those that came with Fabula."""
    found: dict[tuple[str, str], Certificate] = {}
    for path in _list_files(folder):
        certificate = read_certificate(path)
        found.setdefault((certificate.signature, certificate.gold), certificate)
    return list(found.values())


def recall_certificate(judge: str) -> Certificate:
    """Give the newest certificate of a judge, by its spec however that is spelled."""
    known = list_certificates()
    names = {one.judge for one in known}
    name = judge.partition("(")[0]
    spec = METRICS.build(judge).spec if judge not in names and name in METRICS else judge
    own = [one for one in known if one.judge == spec]
    if not own:
        remedy = closest(spec, names) if names else "make one: fabula judge certify JUDGE"
        raise InputError(f"{judge} is no file, and no judge with a certificate", remedy)
    return max(own, key=lambda one: one.made)


def _list_files(folder: Path | None) -> Iterator[Path]:
    shipped = Path(str(files("fabula.scoring") / f"_{FOLDER}"))
    for place in (folder or certificates_home(), shipped):
        if place.is_dir():
            yield from sorted(place.glob("*.json"))


def is_judge(scorer: str, family: str = "") -> bool:
    """Whether a scorer is a judge, by its family or by its name."""
    name = scorer.partition("(")[0]
    return family == "judge" or name in JUDGES or name.startswith("judge:")


def find_certificates(
    scorers: Iterable[str], signatures: Mapping[str, str] | None = None
) -> dict[str, list[Certificate]]:
    """Give the certificates of judges by their specs; none for a judge that has none.

    A judge whose prompt or model has changed since is another judge, and has none. `signatures`
    say by spec who gave the scores; where that is not known, the judge is taken as it is asked
    today, with the model by its name: no model is opened.
    """
    wanted = [scorer for scorer in dict.fromkeys(scorers) if is_judge(scorer)]
    known = list_certificates() if wanted else []
    signed = signatures or {}
    return {
        scorer: [one for one in known if one.judge == scorer and _is_of(one, signed.get(scorer))]
        for scorer in wanted
    }


def _is_of(certificate: Certificate, signature: str | None) -> bool:
    judge = certificate.judge
    if judge.startswith("judge:"):  # its scores came with a data set, and are what they are
        return True
    if signature is not None:  # with the version of Fabula behind it, where it is quoted
        return f"{signature}|".startswith(f"{certificate.signature}|")
    try:
        metric = METRICS.build(judge)
        asking: Iterable[Metric] = getattr(metric, "members", (metric,))
        wording = [
            f"{name}:{value}"
            for one in asking
            if isinstance(one, JudgeMetric)
            for name, value in one.list_wording().items()
        ]
    except UserError:  # a rubric that is not here
        return False
    parts = certificate.signature.split("|")
    return bool(wording) and all(part in parts for part in [*wording, f"rev:{metric.revision}"])


def verdict_words(certificates: Sequence[Certificate], aspect: str) -> str:
    """Say in a few words what a judge's value on a criterion is worth."""
    told = [
        f"{certificate.verdict(aspect)} ({certificate.gold})"
        for certificate in certificates
        if not aspect or aspect in certificate.aspects
    ]
    return "; ".join(told) or NO_CERTIFICATE


def missing_words(certificate: Certificate) -> str:
    """Say of how many stories a judge has no value, and why; "" where it has all."""
    if not certificate.missing:
        return ""
    reasons = ", ".join(f"{count} {name}" for name, count in certificate.missing.items())
    stories = count_text(certificate.stories, "story", "stories")
    return f"No value of {sum(certificate.missing.values())} of {stories}: {reasons}."
