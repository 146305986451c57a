from datetime import UTC, datetime
from io import BytesIO

import pypdf
import pytest
from django.utils import translation
from msgspec import UNSET, UnsetType, structs
from playwright.sync_api import sync_playwright

from benchmarks.statistics.payload import Interval
from reviews.models import DecisionReport
from reviews.reports.document import (
    AgreementInputs,
    BoardInputs,
    CalibratedInputs,
    CalibratedLine,
    CampaignInputs,
    ContrastInputs,
    DecidingVotes,
    JudgeInputs,
    Label,
    PairTables,
    StopRuleInputs,
    WattHours,
    canonical,
)
from reviews.reports.files import content_of
from reviews.reports.page import ReportPage
from tests.reviews.reports.test_figures import board, document, line
from tests.worlds.chromium import ARGUMENTS, CHROMIUM

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def campaign(of_board: BoardInputs, stop_rule: StopRuleInputs | UnsetType = UNSET) -> CampaignInputs:
    """Return inputs with every warning, five sources of agreement, and a judge's board of many contestants."""
    pairs = PairTables(cases=[0, 1, 2], tables=[[3.0, 1.0, 1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 4.0]] * 3, confusion=[9.0] * 9)
    points = Interval(1512.3, 1480.1, 1544.9)
    lines = [
        CalibratedLine(key=one.key, checks=None, judge=points, people=points, calibrated=points, worth=12.0)
        for one in of_board.lines
    ]
    board = CalibratedInputs(opinions=4_000, people=40, cases=120, rate=0.7, lines=lines)
    judges = [
        JudgeInputs(
            key=f"j{number}", name=f"A strict judge of support answers {number}", number=number, model="Large",
            pairs=pairs, board=board, no_board="",
        )
        for number in range(5)
    ]  # fmt: skip
    return CampaignInputs(
        review="r", title="Bills", run="run", template="Questions of customers about bills", version=3, audience="link",
        plan="all", opinions_per_item=3, items=12_000, left_out={"failed": 12, "cut": 3}, expected_people=40, people=7,
        most_of_a_network=6, set_aside=2, ended_by="owner", opened_at=NOW, ended_at=NOW, board=of_board,
        agreement=AgreementInputs(reviews=1, opinions=4_000, people=pairs, checks=pairs, judges=judges),
        stop_rule=stop_rule, networks_forgotten=2, retired=[of_board.lines[0].key],
    )  # fmt: skip


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["board", "campaign", "campaign with a stop rule"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_report_of_many_long_names_prints_on_two_pages(language: str, kind: str):
    names = {f"m{number:02}": f"Meta-Llama-3.1 Instruct {number} (70B)" for number in range(30)}
    lines = [
        line(
            key, 1700.0 - 9 * place, tier=1 + place // 6, rank_best=max(1, place - 3), rank_worst=place + 6,
            price_input=1.0 + place % 3, price_output=2.0 + place % 5, preliminary=place > 25,
            energy=WattHours(0.123, 0.456) if place % 2 else UNSET,
        )
        for place, key in enumerate(names)
    ]  # fmt: skip
    of_board = board(
        *lines, board="side-by-side", effective_voters=3.0, votes_excluded=12, votes_counted=4000,
        to_add=DecidingVotes(12, "m01"), to_drop=DecidingVotes(3, "m01"),
    )  # fmt: skip
    contrasts = [
        ContrastInputs(first="m00", second=key, means=[1.0] * 10 * (place % 4), opinions=1_000)
        for place, key in enumerate(list(names)[1:])
    ]
    has_rule = kind == "campaign with a stop rule"
    stop_rule = StopRuleInputs(share=60, level=5, contrasts=contrasts) if has_rule else UNSET
    subject = of_board if kind == "board" else campaign(of_board, stop_rule)
    labels = {key: Label(name=name, version="3") for key, name in names.items()}
    question = "Which of our thirty models should answer questions of customers about bills in three languages?"
    stored = structs.replace(document(subject, names), labels=labels, question=question)
    with translation.override(language):
        html = content_of(ReportPage(DecisionReport(), stored, canonical(stored), True), "html")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = chromium.new_page()
        page.set_content(html.decode())
        printed = page.pdf(format="A4")
        chromium.close()
    assert len(pypdf.PdfReader(BytesIO(printed)).pages) == 2
