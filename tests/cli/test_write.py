"""`fabula write`, and `fabula score` of what it wrote."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.csv"
    path.write_text("title,human\nA dragon.,It baked.\nA ship.,It sailed.\n", encoding="utf-8")
    return str(path)


def test_two_commands_repeat_hannas_experiment(fabula, prompts, tmp_path):
    out = tmp_path / "stories.jsonl"
    done = fabula("write", prompts, "-a", "lorem,few=lorem(words=3)", "-n", "2", "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == f"{out}\n"
    assert "8 stories on 2 prompts, 8 of them new" in done.stderr.decode()
    scored = fabula("score", str(out), "-m", "words,rouge", "-f", "json")
    assert scored.returncode == 0, scored.stderr
    systems = {row["system"] for row in map(json.loads, out.read_text().splitlines())}
    assert systems == {"lorem", "few"} and all(name in scored.stdout.decode() for name in systems)


def test_what_will_not_do_is_said_before_anything_is_written(fabula, prompts, tmp_path):
    out = tmp_path / "stories.jsonl"
    for words, said in {
        ("-a", "nobody"): "no co-author is called 'nobody'",
        ("-a", "lorem", "--wanted", "250"): "names no unit",
        ("-a", "lorem", "--decoding", "heat=1"): "no setting 'heat'",
        ("-a", "lorem", "-c", "prompt=nope"): "no column 'nope'",
    }.items():
        refused = fabula("write", prompts, *words, "-o", str(out))
        assert refused.returncode == 2 and said in refused.stderr.decode()
        assert not out.exists()
    refused = fabula("write", prompts, "-a", "lorem", "-o", str(tmp_path / "stories.csv"))
    assert refused.returncode == 2 and ".jsonl" in refused.stderr.decode()
