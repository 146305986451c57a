"""Decision reports: pages, files, publishing, and who reads them."""

import json
from io import BytesIO
from itertools import pairwise

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client

from accounts.actor import Actor
from accounts.models import AuditEntry, Role, User
from accounts.personal_data import account_deleting, collect_personal_data
from benchmarks.models import Run
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel
from reviews.models import DecisionReport
from reviews.reports import actions
from reviews.reports.document import canonical_json, checksum, read
from tests import make
from tests.leaderboard import vote_factory
from tests.leaderboard.tally_checks import aggregate
from tests.reviews.reports.reporting import QUESTION, file_of, page_of, publish_board
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def test_report_is_made_on_the_page_of_a_run(sample: Sample, browser: Client):
    form = f"/reports/new/?run={sample.run.public_id}"
    assert form in browser.get(f"/benchmarks/r/{sample.run.public_id}/").text
    asked = browser.get(form)
    assert "Which of these models answers “Capitals of the world” best?" in asked.context["form"].initial["question"]
    refused = browser.post("/reports/new/", {"run": sample.run.public_id, "question": " "})
    assert refused.status_code == 422
    made = browser.post("/reports/new/", {"run": sample.run.public_id, "question": QUESTION}, follow=True)
    report = DecisionReport.objects.get()
    assert made.redirect_chain[-1][0] == page_of(report)
    assert (report.team, report.subject, report.checksum) == (None, "run", checksum(report.document))
    for part in (
        QUESTION, "Warnings", "8 independent cases only", "Gazelle bob has 7 of 8 scores, and no rank.", "Gazelle ada",
        "is the only one with a rank", "on the 8 cases of the template “Capitals of the world”, version 1",
        report.checksum, "What surely differs", "automated quality scores",
    ):  # fmt: skip
        assert part in made.text
    assert QUESTION in browser.get("/reports/").text


def test_report_is_made_on_a_board(member: Actor, browser: Client, client: Client):
    assert browser.get("/reports/new/?board=overall").status_code == 200
    publish_board()
    assert "/reports/new/?board=overall" in browser.get("/leaderboard/").text
    assert "/reports/new/" not in client.get("/leaderboard/").text
    made = browser.post("/reports/new/", {"board": "overall", "question": "Who leads?"}, follow=True)
    for part in (
        "Each of these may be the best: Ada2, Base.", "240 counted votes on 3 models, on the board “Overall”",
        "would tell Ada2 and Base apart", "could put Base first", "Bradley–Terry",
    ):  # fmt: skip
        assert part in made.text
    snapshot = AggregationRun.objects.get(scope="overall")
    assert snapshot.public_id in made.text


@pytest.mark.parametrize("address", ["?board=", "?board=nothing", "?run=nothing", "?board=overall&team=none"])
def test_report_on_nothing_is_not_found(browser: Client, address: str):
    assert browser.get(f"/reports/new/{address}").status_code == 404


def test_report_before_results_is_refused(sample: Sample, browser: Client):
    Run.objects.filter(pk=sample.run.pk).update(state="running")
    refused = browser.post("/reports/new/", {"run": sample.run.public_id, "question": QUESTION})
    assert (refused.status_code, "no results yet" in refused.text) == (409, True)
    assert browser.post("/reports/new/", {"board": "overall", "question": QUESTION}).status_code == 409


def test_files_have_the_checksum_and_no_prompts(of_run: DecisionReport, browser: Client):
    file = json.loads(file_of(browser, of_run))
    assert file["checksum"] == checksum(canonical_json(file["report"])) == of_run.checksum
    assert file["report"]["question"] == QUESTION
    page = browser.get(f"{page_of(of_run)}report.html")
    assert "attachment" in page["Content-Disposition"]
    assert "<script" not in page.text
    for content in (of_run.document, page.text):
        assert "What is the capital" not in content
        assert "Answer with one word" not in content
        assert "Paris" not in content
    assert browser.get(f"{page_of(of_run)}report.pdf").status_code == 404


def test_canonical_text_survives_reading(of_run: DecisionReport, of_board: DecisionReport):
    for report in (of_run, of_board):
        assert canonical_json(json.loads(report.document)) == report.document
        assert read(report.document).id == report.public_id


def test_report_never_changes(of_run: DecisionReport):
    rows = DecisionReport.objects.filter(pk=of_run.pk)
    for change in ({"question": "Another"}, {"document": "{}"}, {"checksum": "0"}, {"subject": "board"}):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        DecisionReport.objects.create(
            subject="run",
            question="Q",
            document="{}",
            checksum="0",
            has_team_models=True,
            published_at=of_run.created_at,
        )


def test_published_report_shows_names_or_numbers(of_run: DecisionReport, browser: Client, client: Client):
    address = page_of(of_run)
    assert client.get(address).status_code == 404
    assert client.get("/reports/").status_code == 302
    browser.post(f"{address}publish/", {"readers": "names"})
    assert "Gazelle ada" in client.get(address).text
    assert "Delete the report" not in client.get(address).text
    browser.post(f"{address}publish/", {"readers": "numbers"})
    for read_by_others in (client.get(address).text, file_of(client, of_run).decode()):
        assert not {"ada", "bob", "honest", "First look", str(Run.objects.get().public_id)} & set(
            read_by_others.replace('"', " ").split()
        )
        assert "Gazelle ada" not in read_by_others
    assert "Entrant 1 is the only one with a rank" in client.get(address).text
    assert "Gazelle ada" in browser.get(address).text
    browser.post(f"{address}publish/", {"readers": "none"})
    assert client.get(address).status_code == 404
    assert client.post(f"{address}publish/", {"readers": "names"}).status_code == 302


def test_board_with_numbers_only_names_no_model(of_board: DecisionReport, browser: Client, client: Client):
    set_of_names = ("Ada2", "ada2", "base", "Base", read(of_board.document).subject.snapshot)
    browser.post(f"{page_of(of_board)}publish/", {"readers": "numbers"})
    for text in (client.get(page_of(of_board)).text, file_of(client, of_board).decode()):
        assert [name for name in set_of_names if f">{name}<" in text or f'"{name}"' in text] == []
    assert "Each of these may be the best: Model 1, Model 2." in client.get(page_of(of_board)).text


def test_owner_deletes_report(of_run: DecisionReport, browser: Client):
    stranger = make.browser(make.member())
    assert stranger.post(f"{page_of(of_run)}delete/").status_code == 404
    assert browser.post(f"{page_of(of_run)}delete/").url == "/reports/"
    assert not DecisionReport.objects.exists()


def test_report_of_a_team_is_the_teams(member: Actor, models: list[LanguageModel], client: Client):
    colleague, editor, guest = make.user(), make.user(), make.user()
    team = make.team(
        member.user, members={Role.MEMBER: [colleague], Role.MANAGER: [editor], Role.GUEST: [guest]}
    )  # fmt: skip
    sample = samples.sample(member.user, models, team)
    people = {"colleague": colleague, "editor": editor, "guest": guest, "stranger": make.user()}
    browsers = {name: make.browser(Actor(user=user)) for name, user in people.items()}
    form = {"run": sample.run.public_id, "question": QUESTION}
    assert browsers["guest"].post("/reports/new/", form).status_code == 404
    assert browsers["stranger"].post("/reports/new/", form).status_code == 404
    made = browsers["colleague"].post("/reports/new/", form)
    report = DecisionReport.objects.get()
    assert (made.url, report.team, report.owner) == (page_of(report), team, colleague)
    statuses = {name: browser.get(page_of(report)).status_code for name, browser in browsers.items()}
    assert statuses == {"colleague": 200, "editor": 200, "guest": 404, "stranger": 404}
    assert browsers["colleague"].post(f"{page_of(report)}publish/", {"readers": "names"}).status_code == 403
    browsers["editor"].post(f"{page_of(report)}publish/", {"readers": "names"})
    assert client.get(page_of(report)).status_code == 200
    assert team.name not in client.get(page_of(report)).text


def test_report_on_models_of_team_stays_there(member: Actor, browser: Client, client: Client):
    team = make.team(member.user)
    own, other = make.team_model(team), make.model(slug="other")
    sample = samples.sample(member.user, [own, other], team)
    report = actions.report_on_run(owner=member.user, run=sample.run, question=QUESTION)
    assert report.has_team_models
    page = browser.post(f"{page_of(report)}publish/", {"readers": "numbers"}, follow=True)
    assert "must not become known outside" in page.text
    assert client.get(page_of(report)).status_code == 404


def test_board_of_team_is_reported_in_the_team(member: Actor, browser: Client):
    team = make.team(member.user)
    own, other = make.team_model(team), make.model(slug="other")
    ballots = [
        vote_factory.ballot(own, other, choice, team=team, on_site_boards=False)
        for choice in ["left"] * 40 + ["right"] * 20
    ]
    vote_factory.cast_all(ballots)
    aggregate()
    made = browser.post(
        "/reports/new/", {"board": "overall", "team": team.slug, "question": "Who leads?"}, follow=True
    )  # fmt: skip
    report = DecisionReport.objects.get()
    assert (report.team, report.has_team_models, made.status_code) == (team, True, 200)
    assert make.browser(make.member()).get(f"/reports/new/?board=overall&team={team.slug}").status_code == 404


def test_account_takes_its_private_reports_along(of_run: DecisionReport, of_board: DecisionReport, member: Actor):
    actions.publish_report(of_board, with_names=True)
    exported = collect_personal_data(member.user)["decision_reports"]
    assert [report["checksum"] for report in exported] == [of_run.checksum, of_board.checksum]
    account_deleting.send(User, user=member.user)
    assert list(DecisionReport.objects.all()) == [of_board]


def test_withdrawal_by_staff_is_audited(of_run: DecisionReport, client: Client):
    actions.publish_report(of_run, with_names=True)
    administrator = make.user(is_staff=True, is_superuser=True)
    client.force_login(administrator)
    form = {"action": "withdraw", "_selected_action": of_run.pk}
    client.post("/admin/reviews/decisionreport/", form)
    of_run.refresh_from_db()
    assert of_run.published_at is None
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject) == ("withdraw decision report", of_run.public_id)


def test_html_of_a_large_report_is_short(member: Actor, browser: Client):
    models = vote_factory.contestants(*(f"m{number}" for number in range(30)))
    for first, second in pairwise(models):
        vote_factory.cast_many(first, second, left=20, right=15)
    aggregate()
    report = actions.report_on_board(owner=member.user, board="overall", team=None, question="Who leads?")
    page = browser.get(page_of(report)).context["page"]
    assert (len(page.rows), page.more_lines) == (12, 18)
    assert (len(page.differences), page.more_differences) == (8, 21)
    assert len(json.loads(BytesIO(file_of(browser, report)).read())["report"]["figures"]["lines"]) == 30
