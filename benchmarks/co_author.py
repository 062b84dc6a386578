"""How fast the embedded co-author writes, from contexts of 1,000 tokens.

    python benchmarks/co_author.py                       # on two threads
    python benchmarks/co_author.py --dtype bf16 --threads 1
    python benchmarks/co_author.py --author "huggingface('gpt2')" --repeat 5

The bars: the first token within 1.5 s where `preprocess` has read the context, at least 12 tokens a
second one text at a time, and 2.5 times that in a batch of eight. It also counts the texts that are
the same alone and in a batch, and with and without what was read before. Run it on a machine that
does nothing else: two threads wait for one another, and so for everybody on their cores.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from dataclasses import dataclass, field, replace

from fabula.authors import load_author
from fabula.authors.context.ranges import parse_wanted
from fabula.core.author import Author, Decoding, Request
from fabula.text.context.segments import prompt_context

SENTENCES = (
    "The harbour lay under fog when Ida came down with the lamp.",
    "Nobody had lit the beacon for three nights, and the boats knew it.",
    "She counted the steps as her father had, and stopped at the ninetieth.",
    "Something had been written there in chalk, in a hand she did not know.",
    "Below her the sea went on with its slow work against the wall.",
    "A dog barked twice and then thought better of it.",
)
WINDOW = 1000 + 72  # what a context gets may be some 64 tokens less
WANTED = "words=-60"


@dataclass
class Measured:
    """Seconds until the first piece of any text and until the last; tokens and texts."""

    first_s: float
    total_s: float
    tokens: int
    seen: int  # tokens that the last to end was shown, titles and signs not counted
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Tokens a second, the reading of contexts counted."""
        return self.tokens / self.total_s


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--author", default="embedded")
    parser.add_argument("--dtype", default="fp32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    name, _, rest = options.author.partition("(")
    given = f"{rest.rstrip(')')}, " if rest.strip(") ") else ""
    settings = f"dtype={options.dtype!r}, threads={options.threads}, window={WINDOW}"
    author = load_author(f"{name}({given}{settings})")
    begun = time.perf_counter()
    author.startup()
    load = " ".join(f"{each:.1f}" for each in os.getloadavg()) if hasattr(os, "getloadavg") else "?"
    print(f"{author.signature}, {options.threads} threads, load of the machine {load}")
    print(f"started in {time.perf_counter() - begun:.1f} s")
    show_first_token(author, options.repeat)
    show_rates(author, options.repeat)
    author.shutdown()


def show_first_token(author: Author, repeat: int) -> None:
    cold, warm, grown, same = [], [], [], 0
    for number in range(repeat):
        request = make_request(number, wanted="words=-12")
        # The same context under another name: nothing of it was read.
        unread = replace(request, context=replace(request.context, story=f"unread {number}"))
        before = measure(author, [unread])
        author.preprocess(request.context)
        after = measure(author, [request])
        more = make_request(number, more=" She held the lamp higher and read it again,")
        cold.append(before.first_s)
        warm.append(after.first_s)
        grown.append(measure(author, [more]).first_s)
        same += before.texts == after.texts
    print(f"first token from {after.seen:,} tokens, median of {repeat}:")
    print(f"  cold {statistics.median(cold):.2f} s")
    print(f"  its context preprocessed {statistics.median(warm):.2f} s (bar: 1.5 s)")
    print(f"  the text has grown by ten words since {statistics.median(grown):.2f} s")
    print(f"  the same text cold and preprocessed: {same} of {repeat}")


def show_rates(author: Author, repeat: int) -> None:
    rates, ratios, same, total = [], [], 0, 0
    for number in range(repeat):
        requests = [make_request(10 * number + at) for at in range(8)]
        for request in requests:
            author.preprocess(request.context)
        alone = measure(author, requests[:1])
        for request in requests:
            author.preprocess(request.context)
        together = measure(author, requests)
        rates.append((alone.rate, together.rate))
        ratios.append(together.rate / alone.rate)
        same += sum(together.texts[name] == text for name, text in alone.texts.items())
        total += len(alone.texts)
    one, eight = (statistics.median(column) for column in zip(*rates, strict=True))
    print(f"tokens a second, contexts preprocessed, median of {repeat}:")
    print(f"  one at a time {one:.1f} (bar: 12)")
    print(f"  in a batch of eight {eight:.1f}, {statistics.median(ratios):.2f} times (bar: 2.5)")
    print(f"  the same text alone and in a batch: {same} of {total}")


def make_request(number: int, wanted: str = WANTED, *, more: str = "") -> Request:
    """A request with a story of its own, whose text does not fit."""
    sentences = [SENTENCES[(number + at * (1 + number % 5)) % len(SENTENCES)] for at in range(120)]
    context = prompt_context(
        "A lighthouse keeper finds a letter.", " ".join(sentences) + more, story=f"story {number}"
    )
    decoding = Decoding(max_sentences=0)
    return Request(f"r{number}", context, parse_wanted(wanted), decoding, seed=number)


def measure(author: Author, requests: list[Request]) -> Measured:
    begun, first, tokens, seen = time.perf_counter(), 0.0, 0, 0
    texts = dict.fromkeys((request.id for request in requests), "")
    for piece in author.generate(requests):
        first = first or time.perf_counter() - begun
        texts[piece.id] = piece.text if piece.replaces else texts[piece.id] + piece.text
        tokens += piece.tokens
        seen = sum(segment.tokens for segment in piece.seen) or seen
        assert piece.status in ("", "done"), piece.problem
    return Measured(first, time.perf_counter() - begun, tokens, seen, texts)


if __name__ == "__main__":
    main()
