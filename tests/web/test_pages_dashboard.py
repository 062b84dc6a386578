"""The dashboard's page and files: who sees what, and that the numbers are the studio's."""

from __future__ import annotations

import csv
import io
import re
import shutil
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from fabula.core.score import Score
from fabula.studio.database import open_studio
from fabula.studio.kept import KEPT_WORDS
from fabula.studio.people import Person
from fabula.studio.publishing import write_scores
from fabula.studio.quality import read_opinions
from fabula.web.dashboard import board as boards
from fabula.web.identity import Call, Web
from fakes.studio_publishing import FERRY, begin_game, publish, publish_unedited
from fakes.studio_writing import begin_draft, put_machine, put_suggestion
from web.conftest import QUICK

HOSTILE = "<script>alert(1)</script> & <b>"
PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def written(first_world, tmp_path_factory):
    """Twelve games of Ann's, each with a suggestion of one of two machines, in a file."""
    path = tmp_path_factory.mktemp("dashboard") / "written.sqlite"
    shutil.copy(first_world[0], path)
    studio = open_studio(f"sqlite:///{path}")
    kept = ("Grey ferry crossed rivers.", "Wolves slept.", FERRY, "Snow.", "Grey ferry sank.")
    for place in range(12):
        table = begin_game(studio, first_world[1].people["ann"], str(place))
        comment = "It knew the ferry." if place == 3 else ""
        rated = {"fluency": 1 + place % 5, "relevance": 1 + place % 3} if place != 7 else {}
        machine = ("one", "two")[place % 2]
        publish(studio, table, "d", kept[place % 5], machine=machine, comment=comment, **rated)
    studio.close()
    return path


@pytest.fixture
def writing(written, world):
    """The same, in the studio of a test; named before whatever opens it."""
    shutil.copy(written, world.url.removeprefix("sqlite:///"))


@pytest.fixture
def as_dan(client, world):
    """A researcher's program; pages are for it, too."""
    client.headers.update(world.bearer("dan"))
    return client


def read_rows(answer):
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.text)))


def open_to_all(app, studio):
    app.state.web = Web(studio, replace(QUICK, public_dashboard=True))


def test_a_stranger_is_sent_to_sign_in_and_an_annotator_told_whom_to_ask(writing, client, world):
    sent = client.get("/dashboard/?status=active", headers=PAGE, follow_redirects=False)
    assert sent.status_code == 303
    assert sent.headers["location"] == "/sign-in?next=/dashboard/%3Fstatus%3Dactive"
    refused = client.get("/dashboard/", headers=PAGE | world.bearer("cat"))
    assert refused.status_code == 403 and "for the role researcher" in refused.text


def test_authors_see_their_own_and_nobody_elses(writing, client, studio, world):
    publish(
        studio, begin_game(studio, world.people["ben"], "his"), "d", "Snow fell.", machine="two"
    )
    his = client.get("/dashboard/", headers=world.bearer("ben")).text
    assert "Your dashboard" in his and his.count('<article class="edit"') == 1
    assert "The salt road his" in his and "The salt road 3" not in his
    assert "How much people write" not in his and "Unedited machine text" not in his
    [row] = read_rows(client.get("/dashboard/user.csv", headers=world.bearer("ben")))
    assert (row["model"], row["n"], float(row["mean"])) == ("two", "1", 0.0)
    edits = client.get("/dashboard/edits.html", headers=world.bearer("ben")).text
    assert edits.count('<article class="edit"') == 1
    # No address makes him somebody else.
    ann = world.people["ann"].id
    assert (
        client.get(f"/dashboard/edits.csv?author={ann}", headers=world.bearer("ben")).text.count(
            FERRY
        )
        == 1
    )
    hers = client.get("/dashboard/", headers=world.bearer("ann")).text
    assert "12 suggestions beside" in hers and "The salt road his" not in hers


def test_a_researcher_sees_figures_diffs_ratings_and_comments(writing, as_dan):
    page = as_dan.get("/dashboard/").text
    # Of six words: 4, 1, 6, 0 and 2, turn by turn; the first machine has 4, 6, 2, 1, 0, 4.
    assert "Of what one wrote, authors kept 47.2 of 100 words on average" in page
    assert "over 6 suggestions." in page
    assert '<mark class="diff-kept">Grey ferry crossed rivers.</mark>' in page
    assert re.search(r'<del class="diff-deleted">[^<]*Wolves howled', page)
    assert '<ins class="diff-added">' in page and "It knew the ferry." in page
    assert "The salt road 3" in page
    assert ">12<" in page.split("published suggestions")[1][:40]


def test_nothing_on_the_page_is_inline_and_words_of_authors_are_words(as_dan, studio, world):
    table = begin_game(studio, world.people["ann"], HOSTILE)
    publish(studio, table, "d", HOSTILE, generated=f"{HOSTILE} Grey ferry.", comment=HOSTILE)
    for path in ("/dashboard/", "/dashboard/edits.html"):
        page = as_dan.get(path).text
        assert "<script>alert" not in page and "&lt;script&gt;alert" in page
        assert re.search(r"<[^>]+\sstyle=", page) is None
    page = as_dan.get("/dashboard/")
    assert "'unsafe-inline'" not in page.headers["content-security-policy"]
    assert "<style" not in page.text
    # Code that a spreadsheet would run is text for it.
    publish(studio, table, "e", "=1+1", generated="=1+1 Grey ferry.")
    rows = read_rows(as_dan.get("/dashboard/edits.csv"))
    assert rows[0]["published"].lstrip("'") == "=1+1" and rows[0]["published"] != "=1+1"


def test_correlations_are_scipys_on_the_export(writing, as_dan):
    stats = pytest.importorskip("scipy.stats")
    archive = zipfile.ZipFile(io.BytesIO(as_dan.get("/api/v1/export?form=csv").content))
    values = collect_export(archive)
    found = read_rows(as_dan.get("/dashboard/correlations.csv"))
    rows = {(row["left"], row["right"]): row for row in found}
    assert len(rows) == 55
    seen = 0
    for (left, right), row in rows.items():
        both = sorted(values[left].keys() & values[right].keys())
        assert int(row["n"]) == len(both)
        x, y = ([values[name][which] for which in both] for name in (left, right))
        if len(both) < 3 or len(set(x)) == 1 or len(set(y)) == 1:
            assert (row["r"], row["p"]) == ("", "") and row["undefined"]
            continue
        expected = stats.pearsonr(x, y)
        assert (float(row["r"]), float(row["p"])) == pytest.approx(
            (expected.statistic, expected.pvalue), abs=1e-9
        )
        seen += 1
    assert seen >= 20
    ps = [float(row["p"]) for row in rows.values() if row["p"]]
    qs = [float(row["q"]) for row in rows.values() if row["p"]]
    assert qs == pytest.approx(list(stats.false_discovery_control(ps)))


def collect_export(archive):
    """Qualities of the export by label and suggestion."""
    labels = ("Relevance", "Fluency", "Coherence", "Likability", "USER")
    values = {label: {} for label in (*labels, *(f"ROUGE-{n}" for n in "1234LW"))}
    for name in ("ratings.csv", "metric_scores.csv"):
        for row in csv.DictReader(io.StringIO(archive.read(name).decode())):
            label = name_quality(row.get("scorer", ""), row["aspect"])
            if label in values and row["value"]:
                values[label][row["suggestion"]] = float(row["value"])
    return values


def name_quality(scorer, aspect):
    if not scorer:
        return aspect.capitalize()
    if aspect != "precision":
        return ""
    # ROUGE-L is what is meant where nothing is said.
    match = re.match(r"rouge\((?:n='?(\w))?", scorer)
    return f"ROUGE-{match[1] or 'L'}" if match else scorer.upper()


def test_every_chart_and_table_is_a_file_of_the_same_filter(writing, as_dan):
    page = as_dan.get("/dashboard/?machine=one&measure=recall").text
    files = re.findall(r'href="(/dashboard/([\w]+)\.(svg|csv)([^"]*))"', page)
    assert {name for _, name, kind, _ in files if kind == "svg"} >= {"user", "ratings", "time"}
    for path, _name, kind, query in files:
        assert query == "?machine=one&amp;measure=recall"
        answer = as_dan.get(path.replace("&amp;", "&"))
        assert answer.headers["content-disposition"].startswith("attachment")
        if kind == "svg":
            assert (
                ElementTree.fromstring(answer.text).tag.endswith("svg")
                and "var(" not in answer.text
            )
        else:
            assert answer.text.count("\n") > 1
    [row] = read_rows(as_dan.get("/dashboard/user.csv?machine=one&measure=recall"))
    # Of the entry's words: 4/4, 6/6, 2/3, 1/2, 0/1, 4/4.
    assert (row["model"], row["n"]) == ("one", "6")
    assert float(row["mean"]) == pytest.approx(100 * (1 + 1 + 2 / 3 + 1 / 2 + 0 + 1) / 6)
    assert as_dan.get("/dashboard/other.csv").status_code == 404
    assert as_dan.get("/dashboard/user.png").status_code == 404
    assert as_dan.get("/dashboard/qualities.svg").status_code == 404


def test_a_filter_that_will_not_do_is_told_beside_what_was_typed(writing, as_dan):
    for query, words in {
        "from=yesterday": "From is &#39;yesterday&#39;",
        "machine=nobody": "no machine is called &#39;nobody&#39;",
        "measure=accuracy": "There is no measure &#39;accuracy&#39;",
        "quality=wit": "There is no quality &#39;wit&#39;",
        "by=year": "There is no period &#39;year&#39;",
        "beside=hanna": "There is nothing of &#39;hanna&#39;",
        "page=0": "Page is &#39;0&#39;",
        "at_least=5&at_most=2": "at_least (5) is more than at_most (2)",
    }.items():
        answer = as_dan.get(f"/dashboard/?{query}&to=2031-01-01", headers=PAGE)
        assert answer.status_code == 422 and words.lower() in answer.text.lower()
        assert 'value="2031-01-01"' in answer.text
    assert as_dan.get("/dashboard/user.csv?by=year").status_code == 422
    nothing = as_dan.get("/dashboard/?from=2031-01-01")
    assert nothing.status_code == 200 and "No published suggestion is like this." in nothing.text


def test_what_is_undefined_is_a_dash_with_its_reason_and_never_zero(as_dan, studio, world):
    table = begin_game(studio, world.people["ann"], "only")
    publish(studio, table, "d", "Snow.", machine="one", fluency=4)
    page = as_dan.get("/dashboard/").text
    assert "No pair of qualities has three suggestions with both, and spread." in page
    assert "There is one model here: nothing to compare." in page
    assert "An interval needs suggestions out of five games or more." in page
    rows = read_rows(as_dan.get("/dashboard/correlations.csv"))
    assert {(row["r"], row["p"], row["q"]) for row in rows} == {("", "", "")}
    assert {row["undefined"] for row in rows} <= {"n = 0", "n = 1", "one is constant"}
    [row] = [
        row
        for row in read_rows(as_dan.get("/dashboard/qualities.csv"))
        if row["quality"] == "Fluency"
    ]
    assert (row["n"], row["mean"], row["sd"], row["low"]) == ("1", "4.0", "", "")
    [row] = [
        row
        for row in read_rows(as_dan.get("/dashboard/qualities.csv"))
        if row["quality"] == "Relevance"
    ]
    assert (row["n"], row["mean"]) == ("0", "")
    assert "–</td>" in page or "– <small>" in page


def test_an_empty_studio_says_how_to_fill_it(as_dan):
    page = as_dan.get("/dashboard/").text
    assert "Nothing has been published yet" in page and "fabula studio machine add" in page
    assert as_dan.get("/dashboard/user.csv").status_code == 200
    assert "There are no edits here." in as_dan.get("/dashboard/edits.html").text


def test_printed_figures_stand_beside_ours_on_request(writing, as_dan):
    assert "STORIUM top-k" not in as_dan.get("/dashboard/").text
    page = as_dan.get("/dashboard/?beside=storium").text
    # Table 5 and Table A4 of Akoury et al. (2020).
    for printed in ("15.6", "9.9", "2.55", "3.96", "28.6"):
        assert printed in page
    assert page.count(">.51<") >= 2 and "Akoury et al. (2020)" in page
    # What can be downloaded of ours is ours alone.
    assert {
        row["model"] for row in read_rows(as_dan.get("/dashboard/user.csv?beside=storium"))
    } == {"one", "two"}


def test_the_public_sees_figures_and_ten_edits_without_names_where_it_may(
    writing, app, client, studio
):
    open_to_all(app, studio)
    page = client.get("/dashboard/", headers=PAGE)
    assert page.status_code == 200 and page.text.count('<article class="edit"') == 10
    for hidden in (
        "The salt road",
        "It knew the ferry.",
        "Unedited machine text",
        "edits.csv",
        "ann",
    ):
        assert hidden not in re.sub(r"\b\w*ann\w+", "", page.text)
    assert "Page 2" not in page.text
    assert client.get("/dashboard/?page=2").text.count('<article class="edit"') == 0
    assert client.get("/dashboard/user.csv").status_code == 200
    assert client.get("/dashboard/edits.html").status_code == 403
    assert client.get("/dashboard/flagged.csv").status_code == 404


def test_a_scope_of_storium_lets_one_read_all_edits(writing, client, monkeypatch):
    reader = Person("p", "reader", frozenset({"annotator"}), frozenset({"user_edits"}))
    found = "fabula.web.pages.dashboard.find_passer"
    monkeypatch.setattr(found, lambda request: Call(request, reader))
    assert "12 suggestions beside what was published" in client.get("/dashboard/").text
    assert client.get("/dashboard/edits.html").text.count('<article class="edit"') == 12
    assert client.get("/dashboard/flagged.csv").status_code == 404
    other = replace(reader, scopes=frozenset())
    monkeypatch.setattr(found, lambda request: Call(request, other))
    assert client.get("/dashboard/").status_code == 403


def test_all_edits_are_one_file_that_needs_nothing_else(writing, as_dan):
    answer = as_dan.get("/dashboard/edits.html?machine=two")
    assert answer.headers["content-disposition"] == 'attachment; filename="fabula-edits.html"'
    assert "script-src" not in answer.headers["content-security-policy"]
    page = answer.text
    assert page.count('<article class="edit"') == 6 and "Of these alone: machine two." in page
    assert re.search(r"<(script|link|img|iframe)\b", page) is None and "http-equiv" in page
    assert "It knew the ferry." in page and "6 edits." in page
    rows = read_rows(as_dan.get("/dashboard/edits.csv?machine=two"))
    assert len(rows) == 6 and rows[0]["generated"] == FERRY
    assert {row["model"] for row in rows} == {"two"}
    # The last of them kept one word of six.
    assert float(rows[0]["USER"]) == pytest.approx(1 / 6)


def test_edits_are_turned_like_pages(writing, as_dan):
    first = as_dan.get("/dashboard/?measure=f").text
    assert first.count('<article class="edit"') == 10 and "Page 1 of 2" in first
    second = as_dan.get("/dashboard/?measure=f&page=2").text
    assert second.count('<article class="edit"') == 2
    assert 'href="?measure=f&amp;page=1#edits"' in second and 'rel="next"' not in second


def test_comments_can_be_looked_through_alone(writing, as_dan):
    page = as_dan.get("/dashboard/?commented=1").text
    assert page.count('<article class="edit"') == 1 and "It knew the ferry." in page
    assert 'href="/dashboard/user.csv?commented=1"' in page
    assert as_dan.get("/dashboard/?commented=maybe").status_code == 422


def test_a_board_is_read_once_until_something_changes(
    writing, app, studio, as_dan, world, monkeypatch
):
    read, made = boards.read_board, []
    monkeypatch.setattr(boards, "read_board", lambda *given: made.append(given) or read(*given))
    first = as_dan.get("/dashboard/").text
    as_dan.get("/dashboard/user.svg")
    # An admin is answered what a researcher was.
    as_dan.get("/dashboard/", headers=world.bearer("eve"))
    assert len(made) == 1
    as_dan.get("/dashboard/?machine=one")
    assert len(made) == 2
    # What failed meanwhile is told all the same.
    table = begin_game(studio, world.people["ann"], "more")
    put_suggestion(studio, begin_draft(studio, table, "lost"), "", status="failed",
                   machine_id=put_machine(studio, "one"))  # fmt: skip
    assert "; 1 failed." in as_dan.get("/dashboard/").text and len(made) == 2
    publish(studio, table, "d", "Grey ferry crossed rivers.", machine="one")
    second = as_dan.get("/dashboard/").text
    assert len(made) == 3 and ">13<" in second and ">13<" not in first
    monkeypatch.setattr(boards, "MOST_BOARDS", 2)
    for day in range(1, 5):
        as_dan.get(f"/dashboard/?to=2031-01-0{day}")
    assert len(app.state.web.boards._kept) == 2


def test_games_of_machine_text_are_flagged_and_can_be_left_out(as_dan, studio, world):
    table = begin_game(studio, world.people["ann"], "machine")
    for key in "abcd":
        publish_unedited(studio, table, key)
    page = as_dan.get("/dashboard/").text
    assert "4 entries, 100 % a machine’s, 4 suggestions unedited" in page
    assert f'data-api="PATCH games/{table.game_id}"' in page
    [row] = read_rows(as_dan.get("/dashboard/flagged.csv"))
    assert (row["game"], row["in figures"]) == (table.game_id, "counted")
    done = as_dan.patch(f"/api/v1/games/{table.game_id}", json={"is_excluded": True})
    assert done.status_code == 200
    page = as_dan.get("/dashboard/").text
    assert "Take in again" in page and "left out of the figures" in page


def test_words_that_were_kept_are_told_by_part_of_speech_and_names_as_known_or_new(
    writing, as_dan, studio
):
    page = as_dan.get("/dashboard/").text
    assert "12 suggestions wait for a worker with nothing else to do, which tags words." in page
    assert as_dan.get("/dashboard/words.svg").status_code == 404
    counts = {"generated:NOUN": 10, "kept:NOUN": 4, "generated:PROPN": 5, "kept:PROPN": 3,
              "entities:known": 2, "entities:new": 1}  # fmt: skip
    opinions = read_opinions(studio, None)
    scored = [
        Score(which, KEPT_WORDS, aspect, float(count))
        for which in opinions.suggestions
        for aspect, count in counts.items()
    ]
    with studio.write() as db:
        write_scores(db, scored)
    rows = read_rows(as_dan.get("/dashboard/words.csv?machine=one"))
    assert [(row["tag"], row["kept"], float(row["rate"])) for row in rows] == [
        ("NOUN", "24", 0.4),
        ("PROPN", "18", 0.6),
    ]
    assert float(rows[1]["of_kept"]) == pytest.approx(3 / 7)
    [row] = read_rows(as_dan.get("/dashboard/names.csv?machine=one"))
    assert (row["names"], float(row["known"])) == ("18", pytest.approx(2 / 3))
    page = as_dan.get("/dashboard/?beside=storium").text
    assert "proper nouns are 29.5 % of kept words, 13.5 % of all" in page
    assert "proper nouns" in page and as_dan.get("/dashboard/names.svg").status_code == 200
