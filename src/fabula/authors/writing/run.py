"""A run of several co-authors over the same prompts: planned whole, written batch by batch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fabula.authors import author_spec, load_author
from fabula.authors.context.ranges import format_wanted
from fabula.authors.writing.prompts import Prompt
from fabula.authors.writing.story_file import Key, Row, StoryLines, key_of
from fabula.core.author import Author, Decoding, Piece, Request, Wanted
from fabula.core.errors import SettingError, UserError
from fabula.core.protocols import watch
from fabula.core.settings import check_settings, named_settings, parse_spec, split_specs
from fabula.text.context.segments import prompt_context

Load = Callable[[str], Author]


@dataclass(frozen=True)
class NamedAuthor:
    """A co-author of a run: its spec, and what its stories' system is called."""

    spec: str
    name: str


# A story is as long as is wanted: four sentences are for one who writes along.
WHOLE_STORY = Decoding(max_sentences=0)
USUAL_LENGTH = Wanted("words", 0, 249)


@dataclass(frozen=True)
class WritingPlan:
    """What is written: by whom, how much, how, how often, and from which seed on."""

    authors: tuple[NamedAuthor, ...]
    wanted: Wanted = USUAL_LENGTH
    decoding: Decoding = WHOLE_STORY
    number: int = 1
    seed: int = 0
    batch: int = 8


@dataclass(frozen=True)
class Written:
    """How a run ended: stories that are there, and how many of them failed now or before."""

    stories: int
    failed: int
    new: int


def parse_authors(texts: Sequence[str]) -> tuple[NamedAuthor, ...]:
    """Read `embedded,mine=huggingface('folder')`: specs, with names where they are given."""
    authors: dict[str, NamedAuthor] = {}
    for entry in (entry for text in texts for entry in split_specs(text)):
        before, sign, after = entry.partition("=")
        is_named = bool(sign) and "(" not in before
        spec = author_spec(after.strip() if is_named else entry)
        name = before.strip() if is_named else spec
        if not name or name in authors:
            problem = f"two co-authors are called {name!r}" if name else f"{entry!r} has no name"
            raise SettingError(problem, "give each a name of its own: mine=embedded")
        authors[name] = NamedAuthor(spec, name)
    if not authors:
        raise SettingError("no co-author is named", "name some with -a, such as -a embedded")
    return tuple(authors.values())


def parse_decoding(text: str, usual: Decoding = WHOLE_STORY) -> Decoding:
    """Read `temperature=0.7, top_k=0`; what is not said is as usual."""
    _, args, named = parse_spec(f"decoding({text})")
    changes: dict[str, Any] = named_settings(Decoding, "decoding", args, named)
    decoding = replace(usual, **changes)
    check_settings(decoding, "decoding")
    return decoding


def write_stories(
    prompts: Sequence[Prompt],
    plan: WritingPlan,
    out: Path,
    *,
    overwrite: bool = False,
    retry: bool = False,
    load: Load = load_author,
) -> Written:
    """Let every co-author write on every prompt, into a file that may be gone on with."""
    lines = StoryLines(out)
    loaded = {author.name: load(author.spec) for author in plan.authors}
    signatures = {name: author.signature for name, author in loaded.items()}
    planned = dict(_plan_rows(prompts, plan, signatures))
    with lines.open(overwrite=overwrite):
        lines.check(planned)
        if retry:
            lines.drop_failed()
        done = set(map(key_of, lines.rows))
        counting = watch.get().count("stories")
        if counting:
            counting.start(len(planned))
            counting.advance(len(done))
        for name, author in loaded.items():
            left = [row for key, row in planned.items() if key[0] == name and key not in done]
            for batch in _write_batches(author, left, plan):
                lines.add(batch)
                watch.get().tell_kept(
                    f"{len(lines.rows):,} of {len(planned):,} stories are kept;"
                    " the same command goes on from there"
                )
                if counting:
                    counting.advance(len(batch))
        if counting:
            counting.finish()
        lines.sort(planned)
    failed = sum(row["status"] == "failed" for row in lines.rows)
    return Written(len(lines.rows), failed, len(lines.rows) - len(done))


def _plan_rows(
    prompts: Sequence[Prompt], plan: WritingPlan, signatures: Mapping[str, str]
) -> Iterator[tuple[Key, Row]]:
    """Give every story that is to be written: all that is known of it beforehand."""
    for author in plan.authors:
        for prompt in prompts:
            for number in range(1, plan.number + 1):
                row: dict[str, Any] = {
                    "id": f"{author.name}/{prompt.item}/{number}",
                    "item": prompt.item,
                    "system": author.name,
                    "number": number,
                    "prompt": prompt.text,
                    "references": list(prompt.references),
                    "author": author.spec,
                    "signature": signatures[author.name],
                    # The same for all co-authors, so that they differ by what they are alone.
                    "seed": draw_seed(plan.seed, prompt.item, number),
                    "decoding": asdict(plan.decoding),
                    "wanted": format_wanted(plan.wanted),
                }
                yield (author.name, prompt.item, number), row


def draw_seed(seed: int, item: str, number: int) -> int:
    """Give the seed of a story, which hangs on no other prompt of the run."""
    digest = hashlib.blake2b(f"{seed}|{number}|{item}".encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _write_batches(author: Author, rows: Sequence[Row], plan: WritingPlan) -> Iterator[list[Row]]:
    """Write rows a batch at a time; a co-author with nothing to write is not even loaded."""
    if not rows:
        return
    with watch.get().during(f"loading {rows[0]['system']}"):
        author.startup()
    try:
        for start in range(0, len(rows), plan.batch):
            batch = rows[start : start + plan.batch]
            watch.get().tell(f"{batch[0]['system']} writes")
            yield _write_batch(author, batch, plan)
    finally:
        author.shutdown()


def _write_batch(author: Author, rows: Sequence[Row], plan: WritingPlan) -> list[Row]:
    """Write some stories side by side; one that fails is a row that says why."""
    results = {str(row["id"]): Result() for row in rows}
    requests = []
    for row in rows:
        digest = hashlib.blake2b(str(row["prompt"]).encode(errors="surrogatepass"), digest_size=8)
        context = prompt_context(row["prompt"], story=f"{row['item']}-{digest.hexdigest()}")
        request = Request(row["id"], context, plan.wanted, plan.decoding, row["seed"])
        try:
            author.preprocess(context)
            requests.append(request)
        except UserError as error:
            results[request.id].fail(str(error))
    try:
        for piece in author.generate(requests) if requests else ():
            results[piece.id].take(piece)
    except UserError as error:
        for result in results.values():
            result.fail(str(error))
    return [dict(row) | results[str(row["id"])].describe() for row in rows]


@dataclass
class Result:
    """What has come of a request so far."""

    text: str = ""
    status: str = ""
    problem: str = ""
    tokens: int = 0

    def take(self, piece: Piece) -> None:
        """Add a piece, or let it stand for all before it."""
        self.text = piece.text if piece.replaces else self.text + piece.text
        self.status, self.problem = piece.status or self.status, piece.problem or self.problem
        self.tokens = max(self.tokens, piece.tokens)

    def fail(self, problem: str) -> None:
        """Take that nothing more will come, unless it has ended."""
        if not self.status:
            self.status, self.problem = "failed", problem

    def describe(self) -> dict[str, Any]:
        """Give what a row says of it; the text of one that failed is not a story."""
        self.fail("the co-author stopped in the middle")
        is_done = self.status == "done"
        text = self.text.strip() if is_done else ""
        status = "done" if is_done else "failed"
        return {"text": text, "status": status, "problem": self.problem, "tokens": self.tokens}
