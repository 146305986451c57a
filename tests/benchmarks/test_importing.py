"""Imports become drafts, all or nothing."""

import base64
import io
from datetime import timedelta
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from django.utils import translation

from accounts.actor import Actor
from benchmarks.actions import freeze_version
from benchmarks.actions.import_sentences import SENTENCES, sentence_of
from benchmarks.actions.importing import ImportGone, ImportRefused, apply_preview, create_draft, preview, read_import
from benchmarks.errors import WrongState
from benchmarks.imports.codes import Code
from benchmarks.imports.content import Entry, Imported, Request
from benchmarks.models import CaseFile, Check, ImportLook, Prompt, RenderedPrompt, Run, Template, TemplateVersion
from benchmarks.preparation.run_preparation import prepare
from tests import make
from tests.benchmarks import factory
from tests.benchmarks.imports.files import archive
from tests.uploads.pictures import picture
from uploads.errors import QuotaReached
from uploads.extraction import read_upload
from uploads.models import Upload

FILES = Path(__file__).parents[1] / "data" / "benchmarks"

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def imported(name: str, **options: str) -> TemplateVersion:
    content = (FILES / name).read_bytes()
    result = read_import(content, Request(name, **options))
    assert not result.is_refused, result.entries
    return create_draft(owner=make.user(), imported=result)


@pytest.mark.parametrize("name", ["promptfoo.yaml", "ifeval.jsonl", "mmlu.jsonl", "mt_bench.jsonl"])
def test_imported_draft_can_be_frozen(name: str):
    draft = imported(name)
    version = freeze_version(draft)
    assert (version.state, version.case_count) == ("frozen", version.cases.count())
    assert version.import_report["counts"]["taken"] > 0


def test_prompts_checks_and_cases_are_stored():
    rows = b'id,question,expected,category\na,"2 + 2?",4,sums\nb,{{ x }},5,sums\n'
    draft = create_draft(owner=make.user(), imported=read_import(rows, Request("sums.csv")))
    assert (draft.template.name, draft.case_count) == ("sums", 2)
    assert list(Prompt.objects.values_list("messages", flat=True)) == [[{"role": "user", "template": "{{ question }}"}]]
    assert list(Check.objects.values_list("key", "scorer", "target")) == [("equals", "iequals", None)]
    first, second = draft.cases.all()
    assert (first.key, first.variables, first.expected, first.tags) == ("a", {"question": "2 + 2?"}, ["4"], ["sums"])
    assert second.variables == {"question": "{{ x }}"}


def test_preview_is_applied_once_and_by_its_owner_only():
    owner, content = make.user(), b'{"input": "1 + 1?", "target": "2"}\n'
    refused = preview(owner=owner, content=b'{"input": ', request=Request("sums.jsonl"))
    assert (refused.id, refused.lines[0]["action"], ImportLook.objects.count()) == ("", "refused", 0)
    preview(owner=owner, content=content, request=Request("sums.jsonl"))
    previewed = preview(owner=owner, content=content, request=Request("sums.jsonl"))
    assert ImportLook.objects.count() == 1
    with pytest.raises(ImportGone):
        apply_preview(owner=make.user(), preview_id=previewed.id)
    draft = apply_preview(owner=owner, preview_id=previewed.id)
    assert draft.cases.get().expected == ["2"]
    with pytest.raises(ImportGone):
        apply_preview(owner=owner, preview_id=previewed.id)
    again = preview(owner=owner, content=content, request=Request("sums.jsonl"))
    with pytest.raises(WrongState):
        apply_preview(owner=owner, preview_id=again.id, template=draft.template)
    freeze_version(draft)
    assert apply_preview(owner=owner, preview_id=again.id, template=draft.template).number == 2


VISION = b"""[{"role": "user", "content": [{"type": "text", "text": "What is it, {{ style }}?"},
  {"type": "image_url", "image_url": {"url": "data:image/png;base64,{{image}}"}}]}]"""
PROMPTFOO = b"""
prompts: [file://vision.json]
tests:
  - vars: {image: file://pics/a.png, style: file://style.txt}
  - vars: {image: [file://pics/a.png, file://pics/b.png], style: briefly}
"""


def test_files_of_an_archive_go_with_their_cases(settings, tmp_path: Path):
    settings.MEDIA_ROOT = tmp_path
    pictures = {"pics/a.png": picture(), "pics/b.png": picture(width=44)}
    packed = archive({"c.yaml": PROMPTFOO, "vision.json": VISION, "style.txt": b"in words", **pictures})
    owner = make.user()
    draft = create_draft(owner=owner, imported=read_import(packed, Request("vision.zip")))
    assert draft.prompts.get().messages == [{"role": "user", "template": "What is it, {{ style }}?"}]
    files = draft.cases.values_list("variables__style", "files__variable", "files__upload__name")
    assert list(files) == [
        ("in words", "image", "a.png"), ("briefly", "image", "a.png"), ("briefly", "image", "b.png"),
    ]  # fmt: skip
    assert Upload.objects.owned_by(Actor(user=owner)).kept().count() == 2


def test_data_files_are_uploads_or_refused(settings, tmp_path: Path):
    settings.MEDIA_ROOT = tmp_path

    def read(kind: str, content: bytes) -> Imported:
        address = f"data:{kind};base64,{base64.b64encode(content).decode()}"
        parts = [{"type": "text", "text": "see"}, {"type": "image", "image": address}]
        row = {"input": [{"role": "user", "content": parts}], "target": "a", "files": {"b.txt": address}}
        return read_import(msgspec.json.encode(row), Request("chat.jsonl"))

    owner = make.user()
    draft = create_draft(owner=owner, imported=read("image/png", picture()))
    file = CaseFile.objects.get(case__version=draft)  # the same bytes are one file
    assert (file.variable, file.upload.kind, file.upload.state) == ("files", "image", "extracting")
    assert read("image/png", b"\0\1\2").entries[0].code == "case_file_type_unknown"
    settings.ARENA_UPLOAD_QUOTAS = {"member": 200}
    with pytest.raises(QuotaReached):
        create_draft(owner=owner, imported=read("text/plain", b"long " * 100))
    with pytest.raises(ImportRefused):
        create_draft(owner=owner, imported=read("text/plain", b" \n "))
    assert (Template.objects.count(), Upload.objects.count()) == (1, 1)
    read_upload(file.upload_id)
    run = factory.run(freeze_version(draft), make.model(abilities=["images"]), starts_at_once=False, is_prepared=False)
    prepare(run.pk)
    run.refresh_from_db()
    assert (run.state, run.detail) == ("queued", "")
    [message] = RenderedPrompt.objects.get().messages
    assert (message["content"], message["files"]) == ("see", [file.upload_id])


def test_answers_without_questions_are_reported():
    answers = read_import((FILES / "mt_bench_answers.jsonl").read_bytes(), Request("answers.jsonl"))
    assert [entry.code for entry in answers.entries if entry.action == "refused"] == ["questions_missing"]


def test_command_previews_and_imports(tmp_path: Path):
    owner, said, out = make.user(), io.StringIO(), io.StringIO()
    path = str(FILES / "semicolons.csv")
    call_command("import_benchmark", path, owner=owner.email, preview=True, stderr=said, stdout=out)
    assert ("taken" in said.getvalue(), Template.objects.count()) == (True, 0)
    call_command("import_benchmark", path, owner=owner.email, stderr=said, stdout=out)
    assert out.getvalue().strip() == Template.objects.get(owner_user=owner).public_id
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2,3\n")
    with pytest.raises(CommandError, match="refused"):
        call_command("import_benchmark", str(bad), owner=owner.email, stderr=said, stdout=out)
    assert "refused 2:3 The row has 3 cells, the heading 2." in said.getvalue()


def test_every_code_has_a_sentence_in_both_languages():
    assert SENTENCES.keys() == set(get_args(Code))
    entry = Entry("refused", "too_many_columns", {"limit": 1000, "found": 1200, "sheet": "first"})
    assert sentence_of(entry) == "A table may have 1000 columns; this one has 1200. (sheet first)"
    english = {code: str(sentence) for code, sentence in SENTENCES.items()}
    with translation.override("fr"):
        assert [code for code, sentence in SENTENCES.items() if str(sentence) == english[code]] == []


def test_command_takes_roles_of_columns_and_answers(tmp_path: Path):
    owner, out, path = make.user(), io.StringIO(), tmp_path / "own.csv"
    path.write_text("Frage,Antwort,ada\nWarum?,darum,weil\n")
    roles = ["Frage=prompt", "Antwort=expected", "ada=reply:ada"]
    call_command(
        "import_benchmark", str(path), owner=owner.email, column=roles, answers=True, stdout=out, stderr=io.StringIO()
    )
    template, run = Template.objects.get(owner_user=owner), Run.objects.get(owner=owner)
    assert out.getvalue().split() == [template.public_id, run.public_id]
    assert run.version.cases.get().expected == ["darum"]
    assert run.items.get().replies.get().reply.text == "weil"


def test_look_is_kept_for_a_day():
    owner, content = make.user(), b"question,answer\nx,y\n"
    looks = [preview(owner=owner, content=content, request=Request("own.csv")).id]
    for age in (23, 25):
        ImportLook.objects.filter(owner=owner).update(created_at=Now() - timedelta(hours=age))
        preview(owner=make.user(), content=content, request=Request("own.csv"))
        looks += ImportLook.objects.filter(owner=owner).values_list("public_id", flat=True)
    assert looks == [looks[0]] * 2
