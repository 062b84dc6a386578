"""What every co-author keeps, whatever writes behind it: checks that any test can call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from fabula.authors.context.ranges import count_units, locate_ends, parse_wanted
from fabula.core.author import Author, Decoding, Piece, Request, SeenSegment
from fabula.text.context.segments import prompt_context

PROMPT = "A lighthouse keeper finds a letter that was written tomorrow."
BEFORE = "The letter lay on the stairs. Ida"


@dataclass
class Written:
    """What came of a request: the text as people see it at the end, and how it ended."""

    text: str = ""
    pieces: list[Piece] = field(default_factory=list)

    @property
    def status(self) -> str:
        return self.pieces[-1].status

    @property
    def seen(self) -> tuple[SeenSegment, ...]:
        return self.pieces[-1].seen


def make_request(
    name: str = "r", wanted: str = "words=-30", *, text: str = BEFORE, **other: object
) -> Request:
    context = prompt_context(PROMPT, text, story=f"story of {name}")
    request = Request(name, context, parse_wanted(wanted), Decoding(max_sentences=0), seed=3)
    return replace(request, **other)


def gather(pieces: Iterable[Piece]) -> dict[str, Written]:
    """Put texts together as a reader of the stream does, and refuse what follows an ending."""
    written: dict[str, Written] = {}
    for piece in pieces:
        one = written.setdefault(piece.id, Written())
        assert not (one.pieces and one.status), f"{piece.id} goes on after its ending"
        one.text = piece.text if piece.replaces else one.text + piece.text
        one.pieces.append(piece)
    return written


def write(author: Author, *requests: Request) -> dict[str, Written]:
    """Let it write, and check what holds for any answer: everybody ends, and ends once."""
    written = gather(author.generate(requests))
    assert written.keys() == {request.id for request in requests}
    for name, one in written.items():
        assert one.status in ("done", "failed", "cancelled"), name
        assert bool(one.pieces[-1].problem) == (one.status == "failed")
    return written


def check_every_request_ends_once(author: Author) -> None:
    requests = [make_request(f"r{number}", f"words=-{5 + 3 * number}") for number in range(5)]
    assert {one.status for one in write(author, *requests).values()} == {"done"}
    assert write(author) == {}


def check_order_and_batch_do_not_matter(author: Author) -> None:
    requests = [make_request(f"r{number}", seed=number) for number in range(4)]
    together = {name: one.text for name, one in write(author, *requests).items()}
    turned = {name: one.text for name, one in write(author, *requests[::-1]).items()}
    alone = {each.id: write(author, each)[each.id].text for each in requests}
    assert together == turned == alone
    assert all(together.values())


def check_cancelling_stops(author: Author) -> None:
    asked = 0

    def is_cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    stopped = make_request("stopped", "words=-400", is_cancelled=is_cancelled)
    written = write(author, stopped, make_request("other", "words=-12"))
    assert written["stopped"].status == "cancelled"
    assert count_units(written["stopped"].text, "words") < 200
    assert written["other"].status == "done"


def check_ranges_are_honoured(author: Author) -> None:
    wishes = ("chars=-40", "words=-7", "tokens=-7", "sentences=-1", "words=0-19", "tokens=7-12")
    requests = [make_request(wanted, wanted) for wanted in wishes]
    for name, one in write(author, *requests).items():
        wanted = parse_wanted(name)
        length = count_units(BEFORE, wanted.unit, keep_fragments=False)
        most = length + wanted.count if wanted.count is not None else (wanted.stop or 0) + 1
        assert one.status == "done", name
        assert count_units(BEFORE + one.text, wanted.unit) <= most, name
    full = write(author, make_request("full", "words=0-3"))["full"]
    assert (full.status, full.text) == ("done", "")


def check_sentences_are_limited_and_whole(author: Author) -> None:
    request = make_request(wanted="words=-200", decoding=Decoding(max_sentences=2))
    text = write(author, request)["r"].text
    ends = [end for end, _ in locate_ends(text)]
    assert len(ends) <= 2
    assert not ends or ends[-1] == len(text)


def check_it_tells_what_it_saw(author: Author) -> None:
    author.preprocess(make_request().context)
    # Whoever plans tells its plan as well.
    told = write(author, make_request())["r"].seen
    seen = [each for each in told if each.kind != "plan"]
    assert [each.kind for each in seen] == ["prompt", "entry"]
    assert (seen[0].text, seen[1].text) == (PROMPT, BEFORE)
    assert all(0 < each.tokens <= each.available for each in seen)


def check_it_starts_and_ends_twice(author: Author) -> None:
    text = write(author, make_request())["r"].text
    author.startup()
    author.shutdown()
    author.shutdown()
    author.startup()
    assert write(author, make_request())["r"].text == text
    assert author.signature.strip()


CHECKS = [
    check_every_request_ends_once,
    check_order_and_batch_do_not_matter,
    check_cancelling_stops,
    check_ranges_are_honoured,
    check_sentences_are_limited_and_whole,
    check_it_tells_what_it_saw,
    check_it_starts_and_ends_twice,
]
