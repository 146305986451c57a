"""Readers of a template and its runs: no address shows what its owner keeps."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client

from accounts.actions import delete_account
from accounts.actor import Actor
from benchmarks.actions.case_files import require_usable_files
from benchmarks.errors import RunNotPossible
from benchmarks.exports.formats import WRITERS
from benchmarks.models import Run, RunItem, Template
from common.tables.parquet import read_rows
from tests import make
from tests.arena_site.security import url_access
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample
from uploads.extraction import read_upload
from uploads.models import Upload

pytestmark = pytest.mark.django_db(transaction=True)

CONTENTS = ["capital of", "Answer with one word", "Paris", "Lima", "It is **", "Let me think", "atlas.txt"]
NAMES = ["Model ada", "Model bob", "france", "kenya"]


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")


@pytest.fixture
def owner() -> Actor:
    return make.member()


@pytest.fixture
def published(owner: Actor) -> Sample:
    """A template of the whole site with two runs that all may read."""
    models = [make.model("ada"), make.model("bob")]
    sample = samples.sample(owner.user, models)
    read_upload(Upload.objects.get().pk)
    samples.finished_run(owner.user, sample.run.version, models[::-1])
    Template.objects.update(visibility="site")
    Run.objects.update(published_at=sample.run.finished_at)
    return sample


def addresses(sample: Sample) -> Iterator[str]:
    run, template, item = sample.run.public_id, sample.template.public_id, sample.item
    other = Run.objects.exclude(pk=sample.run.pk).get().public_id
    for address in [*url_access.BENCHMARKS, *url_access.BENCHMARKS_API]:
        if address.endswith("/runs/{public_id}/stream/"):
            continue
        of_template = "/t/" in address or "/templates/" in address
        public_id = template if of_template else f"{run}-{item.pk}" if "/items/{public_id}" in address else run
        for ending in WRITERS if "{ending}" in address else ("",):
            filled = address.format(
                public_id=public_id, case_id=item.case_id, item_id=item.pk, file_id=sample.file_id, ending=ending,
                move="retry", test_id="none", judge_id="none",
            )  # fmt: skip
            yield filled
            yield f"{filled}?search=Tokyo&with={other}&other={other}&number=1&version=1&wide=1&average=1"


def shown(reader: Client, sample: Sample, tmp_path: Path) -> dict[str, str]:
    """Return all that a reader gets, by address, unpacked."""
    contents = {}
    for address in addresses(sample):
        response = reader.get(address)
        if response.status_code == 200:
            content = samples.downloaded(response) if response.streaming else response.content
            contents[address] = _text(content, tmp_path / "download")
    return contents


def _text(content: bytes, path: Path) -> str:
    path.write_bytes(content)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return "".join(archive.read(name).decode() for name in archive.namelist())
    if content.startswith(b"PAR1"):
        return repr(list(read_rows(path)))
    return content.decode()


def leaks(pages: dict[str, str], words: list[str]) -> list[tuple[str, str]]:
    return [(address, word) for address, page in pages.items() for word in words if word in page]


@pytest.mark.slow
def test_held_out_contents_are_on_no_page_of_others(published: Sample, owner: Actor, tmp_path: Path):
    Template.objects.update(held_out=True)
    own = shown(make.browser(owner), published, tmp_path)
    assert {word for _address, word in leaks(own, CONTENTS)} == set(CONTENTS)
    for reader in (Client(), make.browser(make.member())):
        seen = shown(reader, published, tmp_path)
        assert len([address for address in seen if published.run.public_id in address]) > 20
        assert leaks(seen, CONTENTS) == []


@pytest.mark.slow
def test_report_of_numbers_is_all_that_others_read(published: Sample, tmp_path: Path):
    Template.objects.update(visibility="private")
    Run.objects.update(publishes_names=False)
    for reader in (Client(), make.browser(make.member())):
        seen = shown(reader, published, tmp_path)
        ids = (published.run.public_id, published.template.public_id)
        assert {address.partition("?")[0] for address in seen if any(public_id in address for public_id in ids)} == {
            f"/benchmarks/r/{published.run.public_id}/report/",
            f"/benchmarks/r/{published.run.public_id}/report.html",
        }
        assert leaks(seen, NAMES + CONTENTS) == []


def test_file_of_a_case_has_the_readers_of_its_run(published: Sample, owner: Actor):
    reader, pages = make.browser(make.member()), published.file_id
    of_run = f"/benchmarks/r/{published.run.public_id}/files/{pages}/"
    of_template = f"/benchmarks/t/{published.template.public_id}/files/{pages}/"
    private = {"published_at": None}

    def statuses(held_out: bool, visibility: str, **run: object) -> list[int]:
        Template.objects.update(held_out=held_out, visibility=visibility)
        Run.objects.update(**{"published_at": published.run.finished_at, "publishes_names": True} | run)
        assert [make.browser(owner).get(path).status_code for path in (of_run, of_template)] == [200, 200]
        return [client.get(path).status_code for client in (reader, Client()) for path in (of_run, of_template)]

    assert statuses(False, "site") == [200] * 4
    assert statuses(False, "private") == [200, 404] * 2
    assert statuses(False, "site", **private) == [404, 200] * 2
    assert statuses(False, "private", publishes_names=False) == [404] * 4
    assert statuses(True, "site") == [404] * 4
    Upload.objects.update(deleted_at=published.run.finished_at)
    assert reader.get(of_run).status_code == make.browser(owner).get(of_run).status_code == 404
    assert not RunItem.objects.filter(state="queued").exists()


def test_files_of_a_deleted_account_are_on_no_page(published: Sample, owner: Actor):
    of_run = f"/benchmarks/r/{published.run.public_id}/files/{published.file_id}/"
    assert Client().get(of_run).status_code == 200
    delete_account(owner.user)
    assert Client().get(f"/benchmarks/r/{published.run.public_id}/").status_code == 200
    assert Client().get(of_run).status_code == 404
    page = Client().get(f"/benchmarks/r/{published.run.public_id}/items/{published.item.pk}/")
    assert ("(deleted)" in page.text, of_run in page.text) == (True, False)
    with pytest.raises(RunNotPossible), transaction.atomic():
        require_usable_files(published.run.version)
