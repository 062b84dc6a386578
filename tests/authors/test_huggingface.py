"""The co-author on any causal model: tiny ones of two architectures, saved as a user's would be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabula.authors import load_author
from fabula.core.author import Context, Decoding, Segment
from fabula.core.errors import SettingError, UserError
from fakes.author_contract import CHECKS, PROMPT, make_request, write
from fakes.tiny_models import save_bert, save_gpt2, save_llama, torch

LONG = "They went home, and the dog ran away from the mat. " * 30


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch()
    saver = {"llama": save_llama, "gpt2": save_gpt2}[request.param]
    return saver(tmp_path_factory.mktemp(request.param), positions=1024)


@pytest.fixture(scope="module")
def author(folder: Path) -> Any:
    made = load_author(f"huggingface({str(folder)!r}, device='cpu')")
    made.startup()
    yield made
    made.shutdown()


def fresh(folder: Path, settings: str = "") -> Any:
    return load_author(f"huggingface({str(folder)!r}, device='cpu'{settings})")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_it_keeps_the_contract(author, check):
    check(author)


def test_texts_are_the_same_alone_and_in_a_batch_of_eight(author):
    wishes = [f"words=-{4 + 5 * number}" for number in range(8)]
    texts = ["", "The", LONG, "She said", "cat dog ", LONG * 2, "At sea,", "They\n\n"]
    requests = [
        make_request(f"r{at}", wanted, text=text, seed=at)
        for at, (wanted, text) in enumerate(zip(wishes, texts, strict=True))
    ]
    together = {name: one.text for name, one in write(author, *requests).items()}
    assert together == {each.id: write(author, each)[each.id].text for each in requests}
    assert len(set(together.values())) == 8


def test_what_was_read_before_changes_no_text(folder):
    author = fresh(folder)
    request = make_request(text=LONG)
    cold = write(author, request)["r"].text
    author.shutdown()
    author.preprocess(request.context)
    assert author._loop.prefixes.nbytes > 0
    assert write(author, request)["r"].text == cold
    # The draft has grown by what was written, and the prefix goes on from there.
    grown = replace(request, context=replace(request.context, text=LONG + cold))
    warm = write(author, grown)["r"].text
    author.shutdown()
    assert write(author, grown)["r"].text == warm


def test_of_a_game_alone_nothing_is_read(folder):
    author = fresh(folder)
    author.preprocess(Context("a game", (), game={"scenes": []}))
    assert author._started().prefixes.nbytes == 0


def test_while_a_draft_grows_only_its_end_is_read(folder):
    author = fresh(folder, ", window=500")
    context = make_request(text=LONG).context
    intro = Segment("intro", LONG, "Shore", minimum=50, priority=1)
    read = []
    for more in range(6):
        grown = replace(context, segments=(intro, *context.segments), text=LONG + " cat" * more)
        loop = author._started()
        prompt = author._make_prompt(replace(make_request(), context=grown))
        kept = loop.prefixes.take(context.story, prompt.ids)
        read.append(len(prompt.ids) - (len(kept.ids) if kept else 0))
        assert len(prompt.ids) <= 500
        author.preprocess(grown)
    assert read[0] > 400
    # At most once do the segments give way to make room for the next 64 tokens.
    assert sum(count > 10 for count in read[1:]) <= 1


def test_another_seed_gives_another_text_and_the_same_the_same(author):
    texts = [write(author, make_request(seed=seed))["r"].text for seed in (1, 2, 1)]
    assert texts[0] == texts[2] != texts[1]


def test_what_the_rules_were_as_released_can_be_had(author):
    released = Decoding(max_sentences=0, compat=True)
    assert write(author, make_request(decoding=released))["r"].status == "done"


def test_memory_for_stories_is_bounded_and_freed(folder):
    author = fresh(folder, ", cache_mb=1")
    for number in range(12):
        author.preprocess(make_request(f"r{number}", text=LONG * 2).context)
    assert 0 < author._loop.prefixes.nbytes <= 2**20
    author.shutdown()
    assert author._loop is None
    author = fresh(folder, ", cache_mb=0")
    author.preprocess(make_request(text=LONG).context)
    assert author._loop.prefixes.nbytes == 0


def test_a_long_context_is_cut_and_says_so(author):
    seen = write(author, make_request(text=LONG * 8))["r"].seen
    assert seen[1].tokens < seen[1].available
    assert (LONG * 8).rstrip().endswith(seen[1].text.rstrip())


def test_signatures_name_what_texts_depend_on(folder):
    first, other = fresh(folder), fresh(folder, ", window=300, batch=2, cache_mb=5")
    assert first.signature != other.signature
    assert first.signature == fresh(folder, ", batch=3").signature
    assert first.signature.startswith(f"huggingface,{folder.name}@sha256:")


def test_a_model_that_does_not_write_is_refused(tmp_path):
    torch()
    author = load_author(f"huggingface({str(save_bert(tmp_path))!r})")
    with pytest.raises(SettingError, match="does not write on"):
        author.startup()
    with pytest.raises(UserError):
        load_author("huggingface('/no/such/folder')").startup()


def test_a_model_that_reads_too_little_is_refused(tmp_path):
    torch()
    with pytest.raises(SettingError, match="reads too few tokens"):
        fresh(save_gpt2(tmp_path, positions=40)).startup()


def test_an_assistant_is_asked_and_its_answer_begins_with_the_text(tmp_path):
    torch()
    folder = save_llama(tmp_path, positions=1024)
    with pytest.raises(SettingError, match="has no form for a chat"):
        fresh(folder, ", chat=True").startup()
    form = "{% for m in messages %}</s>{{ m['role'] }}: {{ m['content'] }}{% endfor %}</s>it: "
    (folder / "chat_template.jinja").write_text(form)
    author = fresh(folder, ", chat=True, window=400")
    prompt = author._make_prompt(make_request(text="The old dog "))
    shown = author.checkpoint.tokenizer.decode(prompt.ids)
    assert shown == f"</s>user: Write a story.\n\n{PROMPT}</s>it: The old dog"
    assert write(author, make_request())["r"].status == "done"
    assert len(author._make_prompt(make_request(text=LONG * 8)).ids) <= 400
    assert ",chat," in author.signature
