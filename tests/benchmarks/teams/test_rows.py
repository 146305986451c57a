"""The database refuses templates, runs and files that mix teams."""

from collections.abc import Callable

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from accounts.models import Team
from benchmarks import actions
from benchmarks.errors import ModelsOfTeam
from benchmarks.models import CaseFile, Entrant, Judge, Judgement, Judging, Run, Template
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import judged_runs, samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return make.team(slug="physics")


@pytest.fixture
def of_team(team: Team) -> Sample:
    return samples.sample(team.created_by, [make.team_model(team, slug="own"), make.model()], team)


def execute(statement: str, *values: object) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_mixed_rows_are_refused(team: Team, of_team: Sample, sample: Sample):
    foreign, run = make.team_model(make.team()), of_team.run
    entrant = "UPDATE benchmarks_entrant SET model_id = %s WHERE run_id = %s AND position = 0"
    move_version = "UPDATE benchmarks_run SET version_id = %s WHERE id = %s"
    attach = "UPDATE benchmarks_casefile SET upload_id = %s WHERE case_id = %s"
    personal = CaseFile.objects.get(case__version=sample.run.version_id).upload_id
    draft = of_team.template.versions.get(state="draft")
    mixing: list[tuple[str, Callable[[], object]]] = [
        ("an_entrants_model", lambda: execute(entrant, foreign.pk, run.pk)),
        ("an_entrants_model", lambda: execute(entrant, foreign.pk, sample.run.pk)),
        ("an_entrants_model", lambda: execute(entrant, LanguageModel.of_every_owner.get(slug="own").pk, sample.run.pk)),
        ("a_runs_template", lambda: execute(move_version, run.version_id, sample.run.pk)),
        ("a_runs_template", lambda: execute(move_version, sample.run.version_id, run.pk)),
        ("a_cases_file", lambda: execute(attach, personal, draft.cases.get(key="france").pk)),
        ("a_thing_belongs", lambda: Template.objects.filter(pk=of_team.template.pk).update(visibility="site")),
        ("a_published_run", lambda: execute("UPDATE benchmarks_run SET published_at = now() WHERE id = %s", run.pk)),
    ]
    for name, mix in mixing:
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            mix()


def test_nothing_moves_between_places(of_team: Sample, sample: Sample):
    upload = CaseFile.objects.get(case__version=of_team.run.version_id).upload
    for row in (of_team.template, of_team.run, upload):
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(team=None)  # type: ignore[attr-defined]


def test_names_are_each_owners(team: Team):
    owner = team.created_by
    assert owner is not None
    slugs = [actions.create_template(owner=owner, name="Same", team=place).slug for place in (team, None, make.team())]
    assert slugs == ["same"] * 3
    assert actions.create_template(owner=make.user(), name="Same", team=team).slug != "same"


def test_run_of_a_teams_models_is_not_published(of_team: Sample):
    with pytest.raises(ModelsOfTeam):
        actions.publish_run(of_team.run)
    Entrant.objects.filter(run=of_team.run, position=0).update(model=make.model())
    actions.publish_run(of_team.run)
    assert Run.objects.get(pk=of_team.run.pk).published_at


def test_judges_of_two_places_are_refused(team: Team, of_team: Sample, sample: Sample):
    with pytest.raises(IntegrityError, match="a_judges_model_is_of_its_place"), transaction.atomic():
        Judge.objects.create(
            team=team, series="1" * 22, name="Mixed", model=make.team_model(make.team()), kind="pairwise", rubric={}
        )
    of_place = judged_runs.judging(judged_runs.judge(make.team_model(team), team.created_by, team=team), of_team.run)
    personal = judged_runs.judging(judged_runs.judge(make.model(), sample.run.owner), sample.run)
    reply = sample.item.replies.get().reply
    mixing: list[tuple[str, Callable[[], object]]] = [
        ("a_judging_is_of_one_place", lambda: Judging.objects.create(
            judge=personal.judge, subject=of_team.run, run=judged_runs.engine_run(of_team.run)
        )),
        ("a_judgement_is_of_one_place", lambda: Judgement.objects.create(
            judging=of_place, judge=of_place.judge, item=sample.item, first_reply=reply
        )),
    ]  # fmt: skip
    for name, mix in mixing:
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            mix()
    for row, change in ((of_place.judge, {"team": None}), (of_place, {"subject": sample.run})):
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(**change)
