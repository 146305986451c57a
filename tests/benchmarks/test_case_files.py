"""Files of cases: stored, sent, and kept while a run needs them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from accounts.models import User
from battles.worker.runner import Engine
from benchmarks import actions
from benchmarks.actions.case_files import change_files, require_usable_files
from benchmarks.actions.templates import delete_template
from benchmarks.errors import RunNotPossible
from benchmarks.models import CaseFile, Run, RunItem, TemplateVersion
from benchmarks.pasting import PastedCase, PastedFile
from benchmarks.preparation import case_files
from benchmarks.worker.runner import drive
from common.errors import InvalidInput
from models_registry.models import LanguageModel
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.uploads import pictures
from tests.worlds.benchmarks import samples
from uploads.actions import keep_upload
from uploads.errors import UploadInUse
from uploads.extraction import read_upload
from uploads.files.deletion import delete_upload
from uploads.models import Upload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

SEES = {"abilities": [LanguageModel.Ability.IMAGES]}


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)


@pytest.fixture
def drive_run(engine: Engine) -> Callable[[Run], Run]:
    def run_to_end(run: Run) -> Run:
        engine.run(partial(drive, run.pk), "run")
        return factory.wait_until_ended(run)

    return run_to_end


def kept(owner: User, content: bytes, name: str) -> Upload:
    upload = keep_upload(actor=Actor(user=owner), content=content, name=name)
    read_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def version_with_files(cases: int = 1, **fields: object) -> TemplateVersion:
    version = factory.version(cases, **fields)
    owner = version.template.owner_user
    files = [kept(owner, b"Tea is 3.\n", "menu.txt"), kept(owner, pictures.picture(), "photo.png")]
    for case in version.cases.all():
        change_files(case, added=files, variable="document")
    return version


def test_text_goes_before_the_prompt_and_picture_beside(fake_provider: FakeProvider, drive_run: Callable[[Run], Run]):
    version = version_with_files(template="say {{ word }} of {{ document }}", turns=["and {{ word }} again"])
    model = make.model("honest", at=fake_provider.base_url, **SEES)
    run = drive_run(factory.run(version, model))
    assert factory.counts(run) == {"scored": 1}
    with CaptureQueriesContext(connection) as queries:
        assert case_files.load_uploads([[{"role": "user", "content": "no file"}]]) == {}
    assert len(queries) == 0
    first, second = (request["messages"] for request in fake_provider.requests)
    [message] = first
    text, picture = message["content"]
    assert text["text"] == (
        "--- File “menu.txt” ---\nTea is 3.\n--- End of “menu.txt” ---\n\nsay word0 of menu.txt, photo.png"
    )
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert (second[0], second[2]["content"]) == (message, "and word0 again")


@pytest.mark.slow
def test_changed_picture_is_asked_again(fake_provider: FakeProvider, drive_run: Callable[[Run], Run]):
    version = version_with_files(2)
    model = make.model("honest", at=fake_provider.base_url, **SEES)
    run = drive_run(factory.run(version, model))
    drive_run(factory.run(version, model, reuse_days=1))
    assert fake_provider.calls == {"honest": 2}
    draft = actions.start_draft(version.template)
    first, second = draft.cases.all()
    digests = set(version.cases.values_list("digest", flat=True))
    assert {first.digest, second.digest} == digests
    other = kept(version.template.owner_user, pictures.picture(width=41), "photo.png")
    change_files(first, added=[other], removed=[first.files.get(position=1).pk])
    assert first.digest not in digests
    with pytest.raises(RunNotPossible) as refusal:  # it asks something else
        actions.rescore_run(run, draft)
    assert refusal.value.fields == {"version": ["The version has no case “case-0” that asks the same as in the run."]}
    drive_run(factory.run(draft, model, reuse_days=1))
    assert fake_provider.calls == {"honest": 3}


def test_run_is_rescored_by_version_with_a_new_case(fake_provider: FakeProvider, drive_run: Callable[[Run], Run]):
    version = version_with_files()
    run = drive_run(factory.run(version, make.model("honest", at=fake_provider.base_url, **SEES)))
    draft, owner = actions.start_draft(version.template), version.template.owner_user
    new = PastedCase(
        "new", {"word": "tea"}, ["tea"], files=[PastedFile("doc", kept(owner, b"Tea\n", "a.txt").public_id)]
    )
    actions.add_cases(draft, [new], by=owner)
    assert factory.counts(drive_run(actions.rescore_run(run, draft))) == {"scored": 1}


def test_run_that_cannot_use_files_is_refused():
    version = version_with_files()
    owner = version.template.owner_user
    blind = make.model("blind")
    with pytest.raises(RunNotPossible) as refusal:
        factory.run(version, blind, make.model("seeing", **SEES))
    assert list(refusal.value.fields) == [blind.slug]
    damaged = kept(owner, pictures.picture()[:60], "broken.png")
    change_files(version.cases.get(), added=[damaged])
    with pytest.raises(RunNotPossible) as refusal:
        factory.run(version, make.model("seeing", **SEES))
    assert list(refusal.value.fields) == ["cases[case-0].files"]
    with pytest.raises(InvalidInput):
        change_files(version.cases.get(), added=[kept(owner, b"%d" % n, f"{n}.txt") for n in range(4)])


def test_cases_take_own_files_only():
    version = factory.version(0)
    owner, stranger = version.template.owner_user, make.user()
    own, other = kept(owner, b"mine", "a.txt"), kept(stranger, b"theirs", "b.txt")
    with pytest.raises(InvalidInput):
        actions.add_cases(version, [PastedCase(files=[PastedFile("doc", other.public_id)])], by=owner)
    with pytest.raises(InvalidInput):
        actions.add_cases(version, [PastedCase(files=[PastedFile("doc", own.public_id)] * 2)], by=owner)
    assert version.cases.count() == 0
    actions.add_cases(version, [PastedCase(files=[PastedFile("doc", own.public_id)])], by=owner)
    assert CaseFile.objects.get().upload == own


def test_files_of_a_live_run_stay(fake_provider: FakeProvider, drive_run: Callable[[Run], Run]):
    version = version_with_files()
    text = Upload.objects.get(name="menu.txt")
    run = factory.run(version, make.model("status-400", at=fake_provider.base_url, **SEES))
    for change in (
        lambda: CaseFile.objects.all().delete(),
        lambda: CaseFile.objects.update(variable="other"),
        lambda: CaseFile.objects.create(case=version.cases.get(), upload=text, variable="x", position=3),
    ):
        with pytest.raises(DatabaseError, match="what_a_run_used_never_changes"), transaction.atomic():
            change()
    with pytest.raises(UploadInUse):
        delete_upload(text)
    drive_run(run)
    assert RunItem.objects.get().state == "failed"
    delete_upload(text)
    with pytest.raises(RunNotPossible):
        actions.retry_failed(run)
    with pytest.raises(RunNotPossible):
        factory.run(version, make.model("seeing", **SEES))


def test_files_of_a_case_are_added_shown_and_removed():
    member = make.member()
    browser, stranger = make.browser(member), make.browser(make.member())
    sample = samples.sample(member.user, [make.model("honest")])
    template = sample.template.public_id
    draft = sample.template.versions.get(state="draft")
    case = draft.cases.order_by("position")[0]
    address = f"/benchmarks/t/{template}/cases/{case.pk}/files/"
    photo = SimpleUploadedFile("photo.png", pictures.picture())
    assert browser.post(address, {"file": photo, "variable": "image"})["Location"] == address
    read_upload(Upload.objects.get(name="photo.png").pk)
    assert list(case.files.values_list("variable", "upload__name")) == [("atlas", "atlas.txt"), ("image", "photo.png")]
    text, picture = case.files.all()
    for page in (address, f"/benchmarks/t/{template}/", f"/benchmarks/t/{template}/cases/"):
        assert "photo.png" in browser.get(page).text or "2 files" in browser.get(page).text
    shown = f"/benchmarks/t/{template}/files/"
    previewed = browser.post(f"/benchmarks/t/{template}/edit/", {"preview": "1", "case": "1"}).text
    assert f'src="{shown}{picture.pk}/"' in previewed
    image, document = browser.get(f"{shown}{picture.pk}/"), browser.get(f"{shown}{text.pk}/")
    assert (image["Content-Type"], "Paris" in document.text) == ("image/png", True)
    old = f"/benchmarks/r/{sample.run.public_id}/files/{sample.file_id}/"
    assert old in browser.get(f"/benchmarks/r/{sample.run.public_id}/items/{sample.item.pk}/").text
    assert "Paris" in browser.get(old).text
    assert {stranger.get(path).status_code for path in (address, f"{shown}{text.pk}/", old)} == {404}
    assert browser.get(f"{shown}{sample.file_id}/").status_code == 200
    assert "image: photo.png" in browser.get(f"/benchmarks/t/{template}/changes/").text
    empty = SimpleUploadedFile("program.exe", b"MZ\0\0")
    refused = browser.post(address, {"file": empty})
    assert (refused.status_code, "This is a program." in refused.text) == (422, True)
    browser.post(address, {"remove": [text.pk, picture.pk]})
    assert case.files.count() == 0
    assert CaseFile.objects.count() == 1  # of the frozen version


def test_template_is_deleted_with_its_files():
    version = version_with_files()
    actions.freeze_version(version)
    delete_template(version.template)
    assert (CaseFile.objects.count(), Upload.objects.count()) == (0, 2)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"state": "extracting"}, "“menu.txt” is still being processed."),
        (
            {"state": "ready", "characters": 200_001},
            "The files have 200001 characters; the limit is 200000 per prompt.",
        ),
    ],
    ids=["being read", "too long"],
)
def test_run_whose_files_cannot_be_sent_yet_is_refused(change: dict[str, object], sentence: str):
    version = factory.version(1)
    upload = keep_upload(actor=Actor(user=version.template.owner_user), content=b"Tea", name="menu.txt")
    change_files(version.cases.get(), added=[upload])
    Upload.objects.update(**change)
    with pytest.raises(RunNotPossible) as refusal, transaction.atomic():
        require_usable_files(version)
    assert refusal.value.fields == {"cases[case-0].files": [f"case-0: {sentence}"]}
