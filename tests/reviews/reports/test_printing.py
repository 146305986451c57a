from io import BytesIO

import pypdf
import pytest
from django.utils import translation
from msgspec import structs
from playwright.sync_api import sync_playwright

from reviews.models import DecisionReport
from reviews.reports.document import DecidingVotes, Label, canonical
from reviews.reports.files import content_of
from reviews.reports.page import ReportPage
from tests.reviews.reports.test_figures import board, document, line
from tests.worlds.chromium import ARGUMENTS, CHROMIUM


@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "fr"])
def test_report_of_many_long_names_prints_on_two_pages(language: str):
    names = {f"m{number:02}": f"Meta-Llama-3.1 Instruct {number} (70B)" for number in range(30)}
    lines = [
        line(
            key, 1700.0 - 9 * place, tier=1 + place // 6, rank_best=max(1, place - 3), rank_worst=place + 6,
            price_input=1.0 + place % 3, price_output=2.0 + place % 5, preliminary=place > 25,
        )
        for place, key in enumerate(names)
    ]  # fmt: skip
    subject = board(
        *lines, board="side-by-side", effective_voters=3.0, votes_excluded=12, votes_counted=4000,
        to_add=DecidingVotes(12, "m01"), to_drop=DecidingVotes(3, "m01"),
    )  # fmt: skip
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
