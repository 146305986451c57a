"""Energy in decision reports: an estimated range where a model's size is known."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.test import Client

from accounts.actor import Actor
from models_registry.energy.estimates import energy_of_answer, energy_of_model
from models_registry.models import LanguageModel
from models_registry.profiles import Profile, change_profile
from models_registry.templatetags.energy import watt_hours
from reviews.models import DecisionReport
from reviews.reports import actions
from reviews.reports.document import WattHours, canonical, read
from reviews.reports.naming import without_names
from tests.reviews.reports.reporting import QUESTION, file_of, page_of, publish_board
from tests.reviews.reports.test_recompute import files_of_board, recompute
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def stated(report: DecisionReport) -> dict[str, WattHours]:
    """Return energy by name."""
    document = read(report.document)
    return {document.labels[line.key].name: line.energy for line in document.figures.lines if line.energy}


def test_run_has_energy_of_answers_of_mean_length(
    sample: Sample, models: list[LanguageModel], browser: Client, client: Client, tmp_path: Path
):
    change_profile(models[0].pk, Profile(active_b=Decimal(8)))
    report = actions.report_on_run(owner=sample.run.owner, run=sample.run, question=QUESTION)
    energy = energy_of_answer(models[0], 6, None)  # tokens of each answer
    assert energy is not None
    assert stated(report) == {"Gazelle ada": WattHours(energy["wh_low"], energy["wh_high"])}
    page = browser.get(page_of(report)).text
    assert f"as ecologits estimates it: Gazelle ada {watt_hours(energy)}. Not known: Gazelle bob." in page
    assert "The report agrees" in recompute(tmp_path, file_of(browser, report))
    actions.publish_report(report, with_names=False)
    nameless = file_of(client, report)
    assert b"energy" not in nameless  # it would tell the size of the model
    assert "The report agrees" in recompute(tmp_path, nameless)


def test_report_without_known_sizes_names_no_energy(of_run: DecisionReport, browser: Client):
    assert stated(of_run) == {}
    assert "ecologits" not in browser.get(page_of(of_run)).text


def test_board_has_energy_of_a_thousand_tokens(member: Actor, browser: Client, tmp_path: Path):
    _base, ada, _bob = publish_board()
    change_profile(ada.pk, Profile(active_b=Decimal(8)))
    report = actions.report_on_board(owner=member.user, board="overall", team=None, question="Who leads?")
    energy = energy_of_model(ada)
    assert energy is not None
    assert stated(report) == {str(ada): WattHours(energy["wh_low"], energy["wh_high"])}
    assert f"1,000 tokens, as ecologits estimates it: {ada} {watt_hours(energy)}." in browser.get(page_of(report)).text
    content = file_of(browser, report)
    change_profile(ada.pk, Profile())  # the file of the snapshot has another energy, then
    files = files_of_board(browser, read(report.document).subject.snapshot)
    assert "Its inputs follow from the export" in recompute(tmp_path, content, **files)


def test_numbers_only_of_a_board_have_no_energy(member: Actor):
    _base, ada, _bob = publish_board()
    change_profile(ada.pk, Profile(active_b=Decimal(8)))
    report = actions.report_on_board(owner=member.user, board="overall", team=None, question="Who leads?")
    assert "energy" in report.document
    assert "energy" not in canonical(without_names(read(report.document)))
