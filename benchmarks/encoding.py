"""Encoding stories with MiniLM: against naive batches, and against the bare matrix products.

    python benchmarks/encoding.py [STORIES]

Made-up stories of 50 to 1,500 words are read in windows of 512 tokens. The naive way puts the same
windows, in the order of the stories and padded, through transformers' BertModel, 32 at a time; the
two take turns, portion by portion, so that both meet the same load. The bound is the time of the
matrix products alone: the same shapes, batch by batch, without biases, norms, GELU, softmax,
copies, tokeniser; it and ours are the best of five on one portion. Needs the asset.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from transformers import BertModel

from fabula.models import path_of
from fabula.models.embedded import load
from fabula.models.networks.encoder import Encoder
from fabula.models.reading.state_cache import StateCache, VectorCache
from fabula.models.reading.windows import batch_by_length

ROUNDS, PORTION, NAIVE_BATCH = 5, 40, 32
SYLLABLES = "ba den fo gar hil ka lo men nor pi ran so tel u vor wen".split()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    stories = make_stories(count)
    encoder = without_cache(load("minilm"))
    windows = windows_of(encoder, stories)
    tokens = sum(map(len, windows))
    words = sum(len(story.split()) for story in stories)
    print(f"{count} stories, {words:,} words, {len(windows):,} windows, {tokens:,} tokens read")
    print(f"{torch.get_num_threads()} threads; load of the machine {os.getloadavg()[0]:.1f}")
    show_naive(encoder, stories, tokens)
    show_bound(encoder, stories[:PORTION])
    print(f"load of the machine at the end {os.getloadavg()[0]:.1f}")


def show_naive(encoder: Encoder, stories: list[str], tokens: int) -> None:
    model = BertModel.from_pretrained(path_of("minilm")).eval()
    ours = naive = 0.0
    drain(encoder, stories[:2])
    for start in range(0, len(stories), PORTION):
        some = stories[start : start + PORTION]
        windows = windows_of(encoder, some)
        ours += seconds(lambda some=some: drain(encoder, some))
        naive += seconds(lambda windows=windows: read_naively(model, windows))
    show("ours", ours, tokens)
    show("naive", naive, tokens)
    print(f"against naive batches of {NAIVE_BATCH}: {naive / ours:.2f}× (bar 1.2)")


def show_bound(encoder: Encoder, stories: list[str]) -> None:
    windows = windows_of(encoder, stories)
    print(f"best of {ROUNDS} on {len(stories)} stories")
    ways = {
        "ours": lambda: drain(encoder, stories),
        "all products": lambda: products(encoder, windows, attention=True),
        "linear products": lambda: products(encoder, windows, attention=False),
    }
    rounds = [{name: seconds(way) for name, way in ways.items()} for _ in range(ROUNDS)]
    best = {name: min(one[name] for one in rounds) for name in ways}
    for name, found in best.items():
        show(name, found, sum(map(len, windows)))
    print(f"share of the bound, all products: {best['all products'] / best['ours']:.0%} (bar 75 %)")
    print(f"share of the bound, linear products: {best['linear products'] / best['ours']:.0%}")


def show(name: str, taken: float, tokens: int) -> None:
    print(f"  {name:16}{taken:8.2f} s {tokens / taken:10,.0f} tokens/s")


def seconds(way: Callable[[], None]) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start


def make_stories(count: int) -> list[str]:
    chance = random.Random(0)
    common = "the a and she he it was to of in on with said not her his went came saw old".split()
    rare = ["".join(chance.choices(SYLLABLES, k=2)) for _ in range(300)]
    pool = common * 30 + rare + "house river night door walked quietly window letter".split() * 20
    return [
        " ".join(
            word + ("." if chance.random() < 0.08 else "")
            for word in chance.choices(pool, k=chance.randint(50, 1500))
        )
        for _ in range(count)
    ]


def without_cache(encoder: Encoder) -> Encoder:
    return replace(encoder, cache=StateCache(VectorCache(disk=0, memory=0)))


def windows_of(encoder: Encoder, stories: Sequence[str]) -> list[list[int]]:
    """Token numbers of every window, in the order of the stories."""
    texts = [encoder._tokenise(story) for story in stories]
    return [encoder._ids(piece, text) for text in texts for piece in encoder._cut_pieces(0, text)]


def drain(encoder: Encoder, stories: Sequence[str]) -> None:
    for _ in encoder.states(stories, [encoder.layers - 1]):
        pass


def read_naively(model: BertModel, windows: list[list[int]]) -> None:
    for start in range(0, len(windows), NAIVE_BATCH):
        rows = windows[start : start + NAIVE_BATCH]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        with torch.inference_mode():
            model(ids, attention_mask=mask)


def products(encoder: Encoder, windows: list[list[int]], *, attention: bool) -> None:
    """The matrix products of all layers, on batches as ours, into memory that is there already."""
    layers, width, heads = encoder.bert.stack, encoder.width, encoder.bert.stack[0].heads
    inner, most = layers[0].inner.bias.numel(), max(encoder.batch_tokens, encoder.window)
    given, triple, out, wide = (torch.ones(most, n) for n in (width, 3 * width, width, inner))
    weights, some = torch.ones(heads * encoder.window**2), torch.ones(encoder.window * width)
    mixed = torch.ones(encoder.window * width)
    lengths = [len(window) for window in windows]
    with torch.inference_mode():
        for batch in batch_by_length(lengths, budget=encoder.batch_tokens):
            total = sum(lengths[index] for index in batch)
            for layer in layers:
                torch.mm(given[:total], layer.attention.weight, out=triple[:total])
                for length in [lengths[index] for index in batch] if attention else ():
                    shape = (heads, length, width // heads)
                    vectors, found = (x[: length * width].view(shape) for x in (some, mixed))
                    square = weights[: heads * length**2].view(heads, length, length)
                    torch.bmm(vectors, vectors.transpose(1, 2), out=square)
                    torch.bmm(square, vectors, out=found)
                torch.mm(given[:total], layer.joined.weight, out=out[:total])
                torch.mm(given[:total], layer.inner.weight, out=wide[:total])
                torch.mm(wide[:total], layer.outer.weight, out=out[:total])


if __name__ == "__main__":
    main()
