"""BLANC: how much a summary helps a language model to fill the gaps of a document."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Literal

from fabula.core.card import Card, Need
from fabula.core.model import GapFiller
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast, Between
from fabula.core.story import Story
from fabula.metrics._blanc_masking import (
    Chunks,
    Masking,
    Tokens,
    beginning,
    count,
    cut_rows,
    lessons,
    mask_rows,
)
from fabula.metrics.model_metric import ModelMetric
from fabula.models.networks.tuning import Lesson, TunableFiller, Tuning
from fabula.text.sentences import split_sentences

# Tokens that a model reads for one story: those of rows with gaps, or of rows to train on.
_MOST_TOKENS = 1_000_000
_FILLER = "."
_RANDOM_SHARE = 0.15
Count = Annotated[int, AtLeast(1)]
_Row = list[str | None]
# A document and a summary.
_Pair = tuple[str, str]


@dataclass(frozen=True)
class _Gaps:
    """Rows of a document with gaps, what is right there, and how much of the summary is read."""

    plain: list[_Row]
    helped: list[_Row]
    answers: list[str]
    coverage: float

    @property
    def size(self) -> int:
        """Tokens in all rows."""
        return sum(map(len, chain(self.plain, self.helped)))


@dataclass(frozen=True)
class Blanc(ModelMetric):
    """Gain in gaps filled right, with the summary to read or after training on it."""

    revision = 2
    card = Card(
        title="BLANC",
        family="model",
        direction="higher",
        low=-1.0,
        high=1.0,
        uses=("prompt", "reference"),
        assets=("story_encoder",),
        references="with use='golden' the reference that gains most counts; else none is read",
        paper="Vasilyev, Dharnidharka and Bohannon (2020). Fill in the BLANC: Human-free quality "
        "estimation of document summaries. Eval4NLP.",
        formula="every word of the document of at least four letters (lead pieces: two) is masked, "
        "those two tokens apart in one go, sentence by sentence; (gaps right only with the "
        "summary − gaps right only without it) / all gaps. help: the summary stands before the "
        "sentence, without it as many full stops; tune: a copy of the model is trained on the "
        "summary first. SS: the story is the summary, the prompt the document; PS: the other way "
        "round; golden: the story is the summary, the reference the document",
        compat="A document without a word to mask has 0 instead of none; tune trains on the "
        "summary's own characters, not on their plain forms (NFKD).",
        quirks=(
            "HANNA's columns are of bert-base-uncased, which reads 512 tokens at once; the story "
            "encoder reads 256, so that less of a long summary stands before a sentence. On "
            "machine stories values agree little with theirs: Spearman's ρ of .19 (help, SS) and "
            ".16 (help, PS); on 96 of them .13 (tune, SS), .22 (tune, PS), .03 (golden). A higher "
            "Pearson's r, as for PS, rests on one or two stories that copy the prompt.",
            "help reads as many of the summary's first sentences as have room beside the "
            "document's sentence; coverage is the mean share of the summary that it read.",
            "A prompt as the document has few words to mask: values such as ±.5 are of two words.",
            "Sentences are Fabula's own, not NLTK's; those of over 100 tokens, such as texts "
            "without capitals, are read in pieces. The original cuts them off when the window is "
            "full.",
            "tune: AdamW, the rate falling to 0, dropout as in training, a tenth of the gaps "
            "another word and a tenth left as they are, as in the blanc package, whose later "
            "releases mask evenly in training (`evenly`) and whose first did not. The package "
            "trains on one row at a time; SummEval, which HANNA used, on 24.",
        ),
        cannot_see="Whether the story is good: it likes words that bring back those of the other "
        "text. What is told in other words hardly helps.",
        published={
            "hanna": {
                "BLANC-Golden": ("blanc(use='golden', compat=True)", ""),
                "BLANC-Tune-PS": ("blanc(use='PS', how='tune', batch_rows=24, compat=True)", ""),
                "BLANC-Help-PS": ("blanc(use='PS', compat=True)", ""),
                "BLANC-Tune-SS": ("blanc(how='tune', batch_rows=24, compat=True)", ""),
                "BLANC-Help-SS": ("blanc(compat=True)", ""),
            }
        },
    )

    model: str = "embedded('story_encoder')"
    use: Literal["SS", "PS", "golden"] = "SS"
    how: Literal["help", "tune"] = "help"
    gap: Count = 2
    whole: Count = 4
    lead: Count = 2
    rest: Count = 100
    evenly: bool = True
    epochs: Count = 10
    rate: Annotated[float, Between(0, 1)] = 5e-5
    decay: Annotated[float, Between(0, 1)] = 0.01
    chunk: Annotated[int, AtLeast(2)] = 64
    stride: Count = 32
    batch_rows: Count = 1
    seed: Annotated[int, AtLeast(0)] = 0

    @property
    def needs(self) -> tuple[Need, ...]:
        """What plays the document or the summary beside the story."""
        return ("reference",) if self.use == "golden" else ("prompt",)

    @property
    def slow(self) -> bool:
        """It trains a copy for every summary, or reads the summary before every sentence."""
        return self.how == "tune" or self.use == "golden"

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Read each different pair of document and summary once."""
        wanted = [self._pairs(story) for story in stories]
        pairs = list(dict.fromkeys(pair for group in wanted for pair in group))
        readings = self._read_help(pairs) if self.how == "help" else self._read_tune(pairs)
        return [max((readings[pair] for pair in group), key=_merit) for group in wanted]

    def _pairs(self, story: Story) -> list[_Pair]:
        """Documents and summaries of a story."""
        if self.use == "golden":
            return [(reference, story.text) for reference in story.references if reference.strip()]
        pair = (story.prompt or "", story.text)
        return [pair if self.use == "SS" else pair[::-1]]

    def _read_help(self, pairs: list[_Pair]) -> dict[_Pair, Reading]:
        model = self.model_as(GapFiller)
        return {pair: self._help(model, *pair) for pair in pairs}

    def _help(self, model: GapFiller, document: str, summary: str) -> Reading:
        shown = _tokens_by_sentence(model, summary)
        if not any(shown):
            return self.missing(Status.UNDEFINED, "the model sees no token in the summary")
        gaps = self._gaps(model, document, shown)
        if why := self._hindrance(gaps, gaps.size):
            return why
        guesses = model.fill([*gaps.plain, *gaps.helped])
        return _count_gains(gaps, guesses[: len(gaps.plain)], guesses[len(gaps.plain) :])

    def _read_tune(self, pairs: list[_Pair]) -> dict[_Pair, Reading]:
        """Train one copy a summary, one after the other, for copies are large."""
        model = self.model_as(TunableFiller)
        gaps = {document: self._gaps(model, document, []) for document, _ in pairs}
        plain: dict[str, list[Tokens]] = {}
        readings: dict[_Pair, Reading] = {}
        for summary in dict.fromkeys(summary for _, summary in pairs):
            documents = [document for document, other in pairs if other == summary]
            rows = self._lessons(model, summary)
            ready = []
            for document in documents:
                if why := self._lacks_rows(rows) or self._hindrance(
                    gaps[document], self._size(rows)
                ):
                    readings[document, summary] = why
                else:
                    ready.append(document)
            tuned = model.tune_on(rows, self._tuning) if ready else model
            for document in ready:
                given = gaps[document]
                if document not in plain:
                    plain[document] = model.fill(given.plain)
                after = tuned.fill(given.plain)
                readings[document, summary] = _count_gains(given, plain[document], after)
        return readings

    @property
    def _masking(self) -> Masking:
        return Masking(self.gap, self.whole, self.lead, self.rest)

    @property
    def _tuning(self) -> Tuning:
        return Tuning(self.epochs, self.rate, self.decay, batch=self.batch_rows, seed=self.seed)

    def _lessons(self, model: GapFiller, summary: str) -> list[Lesson]:
        [tokens] = model.tokens([summary if self.compat else _plain(summary)])
        chunks = Chunks(min(self.chunk, model.room), self.stride).of(tokens)
        share = None if self.evenly else _RANDOM_SHARE
        return lessons(chunks, self._masking, share=share, seed=self.seed)

    def _size(self, rows: list[Lesson]) -> int:
        """Tokens that are read in training."""
        return self.epochs * sum(len(row.tokens) for row in rows)

    def _gaps(self, model: GapFiller, document: str, summary: list[Tokens]) -> _Gaps:
        """Rows for every sentence of a document and every offset, with a summary and without."""
        whole = sum(map(len, summary))
        plain, helped, answers, shares = [], [], [], []
        for sentence in _tokens_by_sentence(model, document):
            shown = beginning(summary, model.room - len(sentence))
            shares.append(len(shown) / whole if whole else 1.0)
            for places in self._masking.evenly(sentence):
                row = mask_rows(sentence, places)
                plain.append([*[_FILLER] * len(shown), *row])
                helped.append([*shown, *row] if whole else [])
                answers += [sentence[at] for at in places]
        return _Gaps(plain, helped, answers, sum(shares) / max(len(shares), 1))

    def _hindrance(self, gaps: _Gaps, size: int) -> Reading | None:
        """Say why there is no value, if there is none; no gap has 0 under compat."""
        if size > _MOST_TOKENS:
            note = f"the model would read {size:,} tokens: over the limit of {_MOST_TOKENS:,}"
            return self.missing(Status.TOO_LONG, note)
        return None if gaps.answers else self._nothing("the document has no word to mask")

    def _lacks_rows(self, rows: list[Lesson]) -> Reading | None:
        return None if rows else self._nothing("the summary has no word to train on")

    def _nothing(self, note: str) -> Reading:
        return Reading((0.0,), note=note) if self.compat else self.missing(Status.UNDEFINED, note)


def _count_gains(gaps: _Gaps, plain: list[Tokens], helped: list[Tokens]) -> Reading:
    gains = count(gaps.answers, *(list(chain.from_iterable(side)) for side in (plain, helped)))
    note = f"{gains.gained} gained and {gains.lost} lost of {gains.total}"
    return Reading((gains.share,), coverage=gaps.coverage, note=note)


def _tokens_by_sentence(model: GapFiller, text: str) -> list[Tokens]:
    return cut_rows(model.tokens(split_sentences(_plain(text))), model.room)


def _plain(text: str) -> str:
    """Letters without their marks, and compatible signs as one."""
    return unicodedata.normalize("NFKD", text)


def _merit(reading: Reading) -> tuple[bool, float]:
    return reading.status is Status.OK, reading.values[0]
