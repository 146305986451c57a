from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from accounts.models import Visitor
from battles import actions as battle_actions
from battles.errors import BudgetReached
from battles.models import Attachment, Battle, Turn, Vote
from battles.prompting.lineup import BattleRequest, Filters
from battles.queries import find_battle_with_related
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.uploads import pdfs, pictures
from tests.waiting import wait_for
from uploads import actions
from uploads.extraction import read_upload
from uploads.models import Upload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _contestants(fake_provider: FakeProvider):
    for number in range(3):
        make.model(f"honest-{number}", at=fake_provider.base_url)


@pytest.fixture
def person(reader: Reader, settings) -> Actor:
    """Return the actor of the reader's browser, without a limit on uploads."""
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("upload", "visitor"): "off"}
    reader.post("/api/v1/uploads/", files={"file": ("first.txt", b"to become known")})
    return Actor(visitor=Visitor.objects.get(), network="127.0.0.1")


def upload_file(person: Actor, content: bytes, name: str) -> str:
    """Upload a file, wait until it is read, and return its id."""
    upload = actions.keep_upload(actor=person, content=content, name=name)
    read_upload(upload.pk)
    # A worker may have claimed it before.
    wait_for(lambda: Upload.objects.exclude(state=Upload.State.EXTRACTING).filter(pk=upload.pk))
    return upload.public_id


def let_accept_images(*models: LanguageModel) -> None:
    LanguageModel.objects.filter(pk__in=[model.pk for model in models]).update(abilities=["images"])


def start(reader: Reader, *attachments: str, prompt: str = "What is it?", **more: object):
    return reader.api("POST", "sessions/", {"prompt": prompt, "attachments": attachments, **more})


def refusal(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@pytest.mark.processes
def test_both_sides_receive_same_text_with_names_and_pages(reader: Reader, person: Actor, fake_provider: FakeProvider):
    report = upload_file(person, pdfs.with_text("first page", "second page"), "report.pdf")
    notes = upload_file(person, b"Some notes.", "notes.md")
    battle = start(reader, report, notes).json()["battles"][0]
    assert battle["turns"][0]["attachments"] == [
        {"id": report, "name": "report.pdf", "media_type": "application/pdf", "kind": "document",
         "size": Upload.objects.get(public_id=report).size},
        {"id": notes, "name": "notes.md", "media_type": "text/markdown", "kind": "document", "size": 11},
    ]  # fmt: skip
    reader.wait_until_answered(battle)
    left, right = (request["messages"] for request in fake_provider.requests)
    assert left == right
    sent = left[-1]["content"]
    assert sent == (
        "--- File “report.pdf” ---\n[Page 1]\nfirst page\n\n[Page 2]\nsecond page\n--- End of “report.pdf” ---\n\n"
        "--- File “notes.md” ---\nSome notes.\n--- End of “notes.md” ---\n\n"
        "What is it?"
    )
    for public_id in (report, notes):
        assert reader.get(f"/uploads/{public_id}/text/").text in sent
    page = reader.get(f"/s/{battle['session']}/").text
    assert "report.pdf" in page
    assert battle["session"] in reader.get("/uploads/").text


def test_follow_up_repeats_file_and_accepts_another(reader: Reader, person: Actor, fake_provider: FakeProvider):
    one, two = upload_file(person, b"File one.", "one.txt"), upload_file(person, b"File two.", "two.txt")
    battle = reader.wait_until_answered(start(reader, one).json()["battles"][0])
    fake_provider.forget()
    body = {"prompt": "And this?", "attachments": [two]}
    battle = reader.api("POST", f"battles/{battle['id']}/messages/", body).json()
    reader.wait_until_answered(battle)
    for request in fake_provider.requests:
        first, _, last = (message["content"] for message in request["messages"])
        assert "File one." in first
        assert "File two." in last
    exported = reader.api("GET", f"sessions/{battle['session']}/export/").json()
    assert exported["battles"][0]["sides"][0]["messages"][0] == {
        "role": "user", "content": "What is it?", "attachments": ["one.txt"],
    }  # fmt: skip


@pytest.mark.processes
def test_picture_is_sent_only_to_models_that_see(reader: Reader, person: Actor, fake_provider: FakeProvider):
    seeing = [make.model(f"honest-sees-{number}", at=fake_provider.base_url) for number in range(3)]
    let_accept_images(*seeing)
    photograph = upload_file(person, pictures.photograph_with_metadata(), "tower.jpg")
    for _ in range(4):
        battle = reader.wait_until_answered(start(reader, photograph).json()["battles"][0])
        assert [answer["text"] for answer in battle["turns"][0]["answers"]] == ["What is it? JPEG 523x1568 "] * 2
    drawn = {side.model for battle in Battle.objects.all() for side in battle.sides.all()}
    assert drawn <= set(seeing)
    assert set(Battle.objects.values_list("needs_images", flat=True)) == {True}
    body = {"prompt": "And now?", "attachments": [photograph]}
    assert reader.api("POST", f"battles/{battle['id']}/messages/", body).status_code == 201
    reader.wait_until_answered(reader.battle(battle["id"]))
    reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "tie"})
    assert "images" in Vote.objects.get().categories


@pytest.mark.processes
def test_redraw_for_picture_needs_model_that_sees(reader: Reader, person: Actor, fake_provider: FakeProvider):
    let_accept_images(*(make.model("status-500", at=fake_provider.base_url) for _ in range(3)))
    photograph = upload_file(person, pictures.picture(), "red.png")
    battle = reader.wait_until_answered(start(reader, photograph).json()["battles"][0])
    assert battle["state"] == "void"
    assert set(fake_provider.calls) == {"status-500"}


@pytest.mark.processes
def test_picture_is_refused_with_too_few_models_that_see(reader: Reader, person: Actor):
    let_accept_images(*LanguageModel.objects.all()[:2])
    photograph = upload_file(person, pictures.picture(), "red.png")
    response = start(reader, photograph)
    assert refusal(response) == (400, "invalid")
    assert response.json()["fields"].keys() == {"attachments"}
    assert Battle.objects.count() == 0


@pytest.mark.processes
def test_picture_in_follow_up_needs_pair_drawn_for_pictures(reader: Reader, person: Actor):
    let_accept_images(*LanguageModel.objects.all())
    photograph = upload_file(person, pictures.picture(), "red.png")
    body = {"prompt": "And this?", "attachments": [photograph]}
    blind = reader.wait_until_answered(reader.start_battle())
    assert refusal(reader.api("POST", f"battles/{blind['id']}/messages/", body)) == (409, "images_not_seen")
    asked_for = reader.api("POST", "sessions/", {"prompt": "hello", "filters": {"needs_images": True}})
    drawn_for_it = reader.wait_until_answered(asked_for.json()["battles"][0])
    assert reader.api("POST", f"battles/{drawn_for_it['id']}/messages/", body).status_code == 201


@pytest.mark.processes
def test_chosen_model_without_images_is_refused(reader: Reader, person: Actor):
    blind_model, seeing_model, _ = LanguageModel.objects.order_by("pk")
    let_accept_images(seeing_model)
    photograph = upload_file(person, pictures.picture(), "red.png")
    refused = start(reader, photograph, mode="direct", models=[blind_model.slug])
    assert refused.json()["detail"] == f"{blind_model} does not accept images."
    assert start(reader, photograph, mode="direct", models=[seeing_model.slug]).status_code == 201


@pytest.mark.processes
def test_unusable_attachment_is_refused_with_reason(reader: Reader, person: Actor, site: str):
    waiting = actions.keep_upload(actor=person, content=pdfs.with_text("later"), name="later.pdf")
    # Leased by a second attempt, so that the first one, in a worker, cannot store a result.
    Upload.objects.filter(pk=waiting.pk).update(state="extracting", attempt=2, lease_until="2999-01-01T00:00Z")
    assert refusal(start(reader, waiting.public_id)) == (409, "upload_not_ready")
    scanned = upload_file(person, pdfs.scanned(), "scan.pdf")
    assert refusal(start(reader, scanned)) == (409, "upload_failed")
    theirs = upload_file(make.visitor(), b"not yours", "secret.txt")
    deleted = upload_file(person, b"gone", "gone.txt")
    reader.api("DELETE", f"uploads/{deleted}/")
    mine = upload_file(person, b"mine", "mine.txt")
    for attachments in ([theirs], [deleted], ["nothing"], ["\x00"], [mine, mine], [str(n) for n in range(7)]):
        response = start(reader, *attachments)
        assert refusal(response) == (400, "invalid")
        assert "attachments" in response.json()["fields"]
    assert Battle.objects.count() == 0


def test_too_long_attachments_are_refused_with_the_count(reader: Reader, person: Actor, settings):
    long = upload_file(person, b"word " * 1000, "long.txt")
    settings.ARENA_ATTACHED_CHARACTERS = 4000
    assert "5,000 characters; the limit is 4,000" in start(reader, long).json()["detail"]
    settings.ARENA_ATTACHED_CHARACTERS = 10_000
    LanguageModel.objects.filter(slug=LanguageModel.objects.first().slug).update(context_length=3000)
    assert "Attach fewer or shorter files" in start(reader, long).json()["detail"]
    LanguageModel.objects.update(context_length=5000)
    assert start(reader, long).status_code == 201


def test_attachments_count_against_budget(person: Actor, settings):
    for model in LanguageModel.objects.all():
        model.prices.create(input_per_million=10, output_per_million=0)
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": Decimal("0.10")}
    long = upload_file(person, b"word " * 2000, "long.txt")
    with pytest.raises(BudgetReached):
        battle_actions.start_session(actor=person, prompt="hello", battle_request=BattleRequest(attachments=(long,)))
    battle_actions.start_session(actor=person, prompt="hello")


def test_file_is_deletable_only_while_unused_by_answers(reader: Reader, person: Actor, fake_provider: FakeProvider):
    notes = upload_file(person, b"The secret.", "notes.txt")
    battle = start(reader, notes, prompt="What?").json()["battles"][0]
    reader.wait_until_answered(battle)
    Turn.objects.update(state="answering", lease_until="2999-01-01T00:00Z")
    assert refusal(reader.api("DELETE", f"uploads/{notes}/")) == (409, "upload_in_use")
    Turn.objects.update(state="done", lease_until=None)
    assert reader.api("DELETE", f"uploads/{notes}/").status_code == 204
    fake_provider.forget()
    reader.api("POST", f"battles/{battle['id']}/messages/", {"prompt": "Again?"})
    reader.wait_until_answered(reader.battle(battle["id"]))
    for request in fake_provider.requests:
        assert request["messages"][0]["content"] == "[The file “notes.txt” was deleted by its owner.]\n\nWhat?"
    assert "notes.txt" in reader.get(f"/s/{battle['session']}/").text


def test_deleted_session_deletes_only_its_own_files(person: Actor):
    own, shared = upload_file(person, b"only here", "own.txt"), upload_file(person, b"here and there", "shared.txt")
    battle_request = BattleRequest(attachments=(own, shared))
    first = battle_actions.start_session(actor=person, prompt="one", battle_request=battle_request)
    battle_actions.start_session(actor=person, prompt="two", battle_request=BattleRequest(attachments=(shared,)))
    battle_actions.delete_session(first.session)
    uploads = Upload.objects.kept().filter(name__in=["own.txt", "shared.txt"])
    assert [upload.name for upload in uploads] == ["shared.txt"]
    assert Attachment.objects.count() == 1


def test_prompt_digest_includes_attachments(person: Actor):
    digests = set()
    for number in range(2):
        attached = upload_file(person, b"text %d" % number, "a.txt")
        battle = battle_actions.start_session(
            actor=person, prompt="Summarise this.", battle_request=BattleRequest(attachments=(attached,))
        )
        digests.add(battle.prompt_digest)
    digests.add(battle_actions.start_session(actor=person, prompt="Summarise this.").prompt_digest)
    assert len(digests) == 3


def test_prompt_page_attaches_file_from_library(reader: Reader, person: Actor):
    notes = upload_file(person, b"The notes.", "notes.txt")
    page = reader.get(f"/?attach={notes}").text
    assert f'name="attachments" value="{notes}"' in page
    response = reader.post("/", data={"prompt": "", "attachments": [notes]})
    assert (response.status_code, f'value="{notes}"' in response.text) == (422, True)
    response = reader.post("/", data={"prompt": "What?", "attachments": [notes]})
    assert response.status_code == 303
    assert Attachment.objects.get().upload.public_id == notes


def test_battle_query_count_is_fixed_with_attachments(person: Actor):
    def query_count(actor: Actor) -> int:
        public_id = Battle.objects.get(session__owner_visitor=actor.visitor).public_id
        with CaptureQueriesContext(connection) as queries:
            battle = find_battle_with_related(actor, public_id)
            [turn.attached for turn in battle.turns.all()]
        return len(queries)

    without = make.visitor()
    battle_actions.start_session(actor=without, prompt="hello")
    files = tuple(upload_file(person, b"text %d" % number, "a.txt") for number in range(4))
    battle_actions.start_session(actor=person, prompt="hello", battle_request=BattleRequest(attachments=files))
    assert query_count(without) == query_count(person)


def test_needs_images_filter_is_stored_for_redraws(person: Actor):
    let_accept_images(*LanguageModel.objects.all())
    battle = battle_actions.start_session(
        actor=person, prompt="hi", battle_request=BattleRequest(filters=Filters(needs_images=True))
    )
    assert (battle.filters, battle.needs_images) == ({"needs_images": True}, True)
