from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Team, User
from accounts.teams.actions import archive_team
from arena_site.retention import purge
from benchmarks.models import CaseFile, Reply, Run, Template
from tests import make
from tests.worlds.benchmarks import samples
from uploads.actions import copy_upload
from uploads.models import Extraction, Upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    return make.user()


@pytest.fixture
def team(owner: User) -> Team:
    team = make.team(owner)
    samples.sample(owner, [make.team_model(team)], team)
    return team


def test_archived_team_loses_templates_runs_and_files(team: Team, owner: User):
    personal = samples.sample(owner, [make.model()])
    archive_team(by=owner, team=team)
    purge()
    assert Run.objects.filter(team=team).exists()
    Team.objects.filter(pk=team.pk).update(archived_at=timezone.now() - timedelta(days=30, minutes=1))

    purge()

    team.refresh_from_db()
    assert team.removed_at is not None
    assert (Run.objects.get(), Template.objects.get()) == (personal.run, personal.template)
    assert not Reply.objects.filter(team=team).exists()
    [upload] = Upload.objects.filter(team=team)
    assert (upload.name, upload.deleted_at is None) == ("", False)
    assert Extraction.objects.get().upload == CaseFile.objects.filter(case__key="france")[0].upload


def test_files_that_no_case_has_are_deleted(team: Team):
    other = copy_upload(samples.document(make.user()), user=make.user(), team=make.team())
    Upload.objects.update(created_at=timezone.now() - timedelta(days=2))

    purge()

    other.refresh_from_db()
    kept = Upload.objects.filter(team__isnull=False, deleted_at=None)
    assert other.deleted_at is not None
    assert {upload.case_files.exists() for upload in kept} == {True}
