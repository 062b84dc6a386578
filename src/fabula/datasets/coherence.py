"""Plot-guided coherence: ROC stories whose coherence five people rated, and a model's verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, ScorerCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    choose_file,
    clean_sentences,
    find_file,
    fit_card,
    gather_scores,
    get_list,
    get_text,
    get_texts,
    read_cells,
    read_rating,
)
from fabula.datasets.tables.rows import Row, detect_format, read_rows
from fabula.datasets.tables.text_file import TextFile

ASPECT = "coherence"
CARD = DatasetCard(
    title="Coherence of ROC stories (plot-guided)",
    about="300 ROC stories, plausible and made implausible, whose coherence five workers each "
    "rated from 0 to 5; with the published predictions of the MANPLTS classifier, the probability "
    "that a story is plausible. Worker ids are those of the release, so agreement can be measured.",
    licence="Apache-2.0",
    citation="Ghazarian, Liu, Akash S M, Weischedel, Galstyan and Peng (2021). Plot-guided "
    "adversarial example construction for evaluating open-domain story generation. NAACL-HLT, "
    "4334–4344.",
    source="PlusLabNLP/Plot-guided-Coherence-Evaluation",
    files={
        "AMT_ROC.CSV": "answers of workers: WorkerId, Input.text1 …, Answer.text1 …",
        "coherence_roc300.jsonl": "the same by story: story, ratings, raters; read where the CSV "
        "is not there",
        "Pred_advROC_roberta.txt": "story, tab, probability (may be missing)",
    },
    checksums={
        "AMT_ROC.CSV": "ad99523a5dd4cb57e984e7d6111db89b20265613a31b5ff7b42a966ec6a59bfc",
        "coherence_roc300.jsonl": (
            "14228f034eb1bb6541a6ce71496bf8ad7a1554433e38527df245141f7bbcb856"
        ),
        "Pred_advROC_roberta.txt": (
            "df0694ae44177a1b7373f7d04905d9bd32b71dd04656e2f3359348107deba75a"
        ),
    },
    counts={"stories": 300, "ratings": 1_500, "scores": 300},
    scales={ASPECT: (0.0, 5.0)},
    quirks=(
        "The tag `</s>` behind every sentence is dropped; texts stay lower-cased and tokenised.",
        "0 is a rating: 76 of the 1,500 are. An empty answer is missing.",
        "Stories have no ids of their own: they are numbered from 0 in the order of the file.",
    ),
)
_MODEL = "MANPLTS"
_Answer = tuple[str, str, str, object]


def load(path: Path | None = None) -> Dataset:
    """Load the stories with the ratings of each worker, and the predictions."""
    file = choose_file(path, "AMT_ROC.CSV", "coherence_roc300.jsonl")
    ids: dict[str, str] = {}
    ratings = []
    for where, text, worker, answer in _read_answers(file):
        story = ids.setdefault(text, str(len(ids)))
        if answer not in (None, ""):
            value = read_rating(answer, where, CARD.scales[ASPECT])
            ratings.append((where, Score(story, f"human:{worker}", ASPECT, value)))
    stories = tuple(Story(name, text) for text, name in ids.items())
    scores = gather_scores(stories, _read_predictions(path, ids))
    cards = {_MODEL: ScorerCard("model", "higher")} if len(scores) else {}
    return Dataset(
        "coherence", fit_card(CARD, file), stories, gather_scores(stories, ratings), scores, cards
    )


def _read_answers(file: TextFile) -> Iterator[_Answer]:
    """Go through where, text, worker and answer."""
    by_worker = detect_format(file.path) == "csv"
    for where, row in read_rows(file):
        yield from _read_worker(row, where) if by_worker else _read_story(row, where)


def _read_worker(row: Row, where: str) -> Iterator[_Answer]:
    texts = [name for name in row if name.startswith("Input.text")]
    if not texts:
        raise InputError(f"{where}: no column Input.text1", "check that it is the right file")
    worker = get_text(row, "WorkerId", where)
    for name in texts:
        answer = get_text(row, name.replace("Input", "Answer"), where)
        place = f"{where}, {name}"
        yield place, clean_sentences(get_text(row, name, where)), worker, answer.strip()


def _read_story(row: Row, where: str) -> Iterator[_Answer]:
    text = clean_sentences(get_text(row, "story", where))
    raters = get_texts(row, "raters", where)
    answers = get_list(row, "ratings", where, len(raters))
    for worker, answer in zip(raters, answers, strict=True):
        yield where, text, worker, answer


def _read_predictions(path: Path | None, ids: dict[str, str]) -> Iterator[Placed[Score]]:
    file = find_file(path, "Pred_advROC_roberta.txt")
    for where, (text, value) in read_cells(file, "\t", 2) if file else ():
        story = ids.get(clean_sentences(text))
        if story is None:
            raise InputError(f"{where}: a story that nobody rated", "fetch the files again")
        yield where, Score(story, _MODEL, "", read_rating(value, where, (0.0, 1.0)))
