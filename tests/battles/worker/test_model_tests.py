import json
import re
from collections.abc import Iterator
from decimal import Decimal
from html import unescape

import pytest
from django.utils import timezone
from django.utils.html import escape

from accounts.models import AuditEntry
from battles import tasks
from battles.models import Call
from battles.streaming.protocol import TurnToken
from battles.worker import model_tests
from common.valkey.connections import connection
from models_registry import breaker_rule
from models_registry.models import Breaker, Charge, LanguageModel, PaidCallsHalt, Price
from tests import make
from tests.battles.streaming.stream_events import read_until
from tests.fake_provider import CANARY, PAUSE, FakeProvider
from tests.pages import compact
from tests.site import Reader
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "sk-live-4f9c-do-not-show-7Q2z"


@pytest.fixture
def admin(reader: Reader) -> Reader:
    make.user("admin@example.org", is_staff=True, is_superuser=True)
    reader.post("/accounts/login/", data={"login": "admin@example.org", "password": "a-good-password"})
    return reader


def start_test(admin: Reader, model: LanguageModel, prompt: str = "one two three") -> str:
    answer = admin.post(f"/admin/models_registry/languagemodel/{model.pk}/test/", data={"prompt": prompt})
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"]


def follow(admin: Reader, page: str) -> Iterator[tuple[str, str]]:
    match = re.search(r'data-stream="([^"]+)"', admin.get(page).text)
    return ((name, data) for _, name, data in admin.follow(match[1])) if match else iter(())


def wait_for_end(admin: Reader, page: str) -> None:
    for _ in follow(admin, page):
        pass


def streamed_text(heard: list[tuple[str, str]]) -> str:
    return "".join(json.loads(data)["text"] for name, data in heard if name == "text")


def result_of(admin: Reader, model: LanguageModel, prompt: str = "one two three") -> str:
    """Test a model and return its page after the end."""
    page = start_test(admin, model, prompt)
    wait_for_end(admin, page)
    return admin.get(page).text


def rows(page: str) -> dict[str, str]:
    cells = re.findall(r"<tr><th scope=\"row\">(.*?)</th><td>(.*?)</td></tr>", compact(page))
    return {name: " ".join(value.split()) for name, value in cells}


def test_page_streams_answer_and_ends_with_usage(admin: Reader, fake_provider: FakeProvider):
    model = make.model("honest", at=fake_provider.base_url, system_prompt="Be brief.", parameters={"temperature": 0.5})
    Price.objects.create(model=model, input_per_million=10, output_per_million=100)
    prompt = f"one two {PAUSE} <b>three</b>"
    page = start_test(admin, model, prompt)
    events = follow(admin, page)
    heard = read_until(events, lambda heard: streamed_text(heard) == "one two ")
    so_far = admin.get(page).text
    assert '<pre class="model-words" aria-live="polite">one two </pre>' in so_far
    assert "data-stream" in so_far
    fake_provider.go_on()
    heard += events
    assert streamed_text(heard) == f"{prompt} "
    assert heard[-1] == ("end", "{}")
    shown = admin.get(page).text
    assert f"one two {PAUSE} &lt;b&gt;three&lt;/b&gt;" in shown
    assert "data-stream" not in shown
    usage = rows(shown)
    assert (usage["Tokens"], usage["Cost"], usage["Ended with"]) == ("7 sent, 4 written", "$0.00047", "stop")
    assert re.fullmatch(r"\d+ ms", usage["First token"])
    [sent] = fake_provider.requests
    assert [message["content"] for message in sent["messages"]] == ["Be brief.", prompt]
    assert sent["temperature"] == 0.5


def test_call_is_logged_without_text_and_charged(admin: Reader, fake_provider: FakeProvider):
    model = make.model("honest", at=fake_provider.base_url)
    Price.objects.create(model=model, input_per_million=10, output_per_million=100)
    result_of(admin, model, "a secret prompt")
    call = Call.objects.get()
    assert (call.state, call.answer, call.model) == ("done", None, model)
    assert "secret" not in json.dumps(call.request)
    assert (Charge.objects.get().cost, call.cost) == (Decimal("0.00037"), Decimal("0.00037"))
    entry = AuditEntry.objects.get(action="test model")
    assert (entry.subject, entry.user.email) == (str(model), "admin@example.org")


@pytest.mark.parametrize(
    ("upstream_name", "sentence", "upstream_text"),
    [
        ("status-500", "The provider reported an error.", CANARY),
        ("status-404", "There is no model at the provider's address.", CANARY),
        ("html", "The provider's response was not an answer.", "hello"),
        ("empty", "The model returned an empty answer.", ""),
    ],
)
def test_failure_shows_sentence_and_upstream_text(
    upstream_name: str, sentence: str, upstream_text: str, admin: Reader, fake_provider: FakeProvider
):
    shown = result_of(admin, make.model(upstream_name, at=fake_provider.base_url))
    assert "The model did not answer" in shown
    assert sentence in unescape(shown)
    assert upstream_text in shown
    assert Call.objects.get().state == "failed"


def test_partial_answer_is_shown_with_failure(admin: Reader, fake_provider: FakeProvider):
    shown = result_of(admin, make.model("cut-after-2", at=fake_provider.base_url))
    assert "The connection broke before the answer was complete." in shown
    assert "one two " in shown


def test_refused_key_is_not_shown(admin: Reader, fake_provider: FakeProvider):
    model = make.model("status-401", at=fake_provider.base_url)
    model.provider.store_key(KEY)
    model.provider.save()
    shown = result_of(admin, model)
    assert "The provider did not accept this arena&#x27;s key." in shown
    assert CANARY not in shown
    assert KEY.encode() not in b"".join(admin.received)


def test_model_test_over_budget_makes_no_call(admin: Reader, fake_provider: FakeProvider):
    model = make.model("honest", at=fake_provider.base_url)
    Price.objects.create(model=model, input_per_million=10, output_per_million=100)
    PaidCallsHalt.objects.create(pk=1)
    shown = result_of(admin, model)
    assert "The budget for this model is used up." in shown
    assert not fake_provider.calls


def test_success_closes_breaker_and_failure_opens_none(
    admin: Reader, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(breaker_rule, "FAILURES_IN_A_ROW", 1)
    good, bad = (make.model(name, at=fake_provider.base_url) for name in ("honest", "status-500"))
    Breaker.objects.create(model=good, opened_at=timezone.now(), probe_at=timezone.now(), openings=1, reason="cut")
    result_of(admin, good)
    result_of(admin, bad)
    assert not Breaker.objects.open().exists()


def test_draft_model_can_be_tested(admin: Reader, fake_provider: FakeProvider):
    shown = result_of(admin, make.model("honest", at=fake_provider.base_url, status="draft"))
    assert "The model answered" in shown
    assert "It is a draft: activate it." in shown


def test_redelivered_task_calls_the_model_once(admin: Reader, fake_provider: FakeProvider):
    page = start_test(admin, make.model("honest", at=fake_provider.base_url))
    wait_for_end(admin, page)
    tasks.test_model(page.rstrip("/").rpartition("/")[2])
    assert fake_provider.calls.total() == 1


def test_empty_prompt_is_refused(admin: Reader, fake_provider: FakeProvider):
    model = make.model("honest", at=fake_provider.base_url)
    answer = admin.post(f"/admin/models_registry/languagemodel/{model.pk}/test/", data={"prompt": " "})
    assert (answer.status_code, fake_provider.calls.total()) == (422, 0)


def test_unknown_model_test_shows_expired(admin: Reader):
    model = make.model()
    shown = admin.get(f"/admin/models_registry/languagemodel/{model.pk}/test/unknown/").text
    assert "No worker picked up the test" in shown
    assert "data-stream" not in shown


def test_model_test_needs_change_permission(reader: Reader, fake_provider: FakeProvider):
    model = make.model("honest", at=fake_provider.base_url)
    make.user("staff@example.org", is_staff=True)
    reader.post("/accounts/login/", data={"login": "staff@example.org", "password": "a-good-password"})
    path = f"/admin/models_registry/languagemodel/{model.pk}/test/"
    assert reader.post(path, data={"prompt": "hello"}).status_code == 403
    assert reader.get(path + "x/").status_code == 403
    assert reader.get("/stream/forged/").status_code == 404
    assert not fake_provider.calls


def test_test_stream_key_differs_from_turn_stream_key():
    assert TurnToken("x", 0, "test").key != TurnToken("x", 0, "api").key


def test_model_test_expires_with_its_stream(admin: Reader, fake_provider: FakeProvider):
    page = start_test(admin, make.model("honest", at=fake_provider.base_url))
    wait_for_end(admin, page)
    keys = connection().keys("model-test:*")
    assert len(keys) == 3
    assert all(0 < connection().ttl(key) <= model_tests.RESULT_TTL_S for key in keys)


def test_model_test_streams_reasoning_apart(admin: Reader, fake_provider: FakeProvider):
    page = start_test(admin, make.model("thinks-first", at=fake_provider.base_url), f"one two {PAUSE}")
    events = follow(admin, page)  # an ended test has no stream
    fake_provider.go_on()
    heard = [(json.loads(data)["side"], json.loads(data)["text"]) for name, data in events if name == "text"]
    assert {side for side, _ in heard} == {"reasoning", "text"}
    shown = admin.get(page).text
    for side in ("reasoning", "text"):
        assert escape("".join(text for name, text in heard if name == side)) in shown


TESTS = "/admin/models_registry/languagemodel/tests/"


def results_of(admin: Reader, *models: LanguageModel) -> str:
    """Test the models together and return the page after the end."""
    answer = admin.post(TESTS, data={"prompt": "one two three", "models": [model.pk for model in models]})
    assert answer.status_code == 302, answer.text
    wait_for(lambda: "data-under-way" not in admin.get(answer.headers["Location"]).text)
    return admin.get(answer.headers["Location"]).text


def test_several_models_are_tested_in_one_table(admin: Reader, fake_provider: FakeProvider):
    draft = make.model("honest", at=fake_provider.base_url, status="draft")
    silent = make.model("empty", at=fake_provider.base_url)
    shown = results_of(admin, draft, silent)
    assert "2 of 2 tests are over." in shown
    assert "one two three" in shown
    assert "The model returned an empty answer." in shown
    assert f'name="_selected_action" value="{draft.pk}"' in shown
    assert f'name="_selected_action" value="{silent.pk}"' not in shown
    assert "Activate 1 model that answered" in shown
    assert sorted(AuditEntry.objects.values_list("action", "subject")) == sorted(
        ("test model", str(model)) for model in (draft, silent)
    )


def test_tests_of_a_busy_provider_wait(admin: Reader, fake_provider: FakeProvider):
    models = [make.model(f"honest-{n}", at=fake_provider.base_url) for n in range(3)]
    type(models[0].provider).objects.update(calls_at_once=1)
    shown = results_of(admin, *models)
    assert shown.count("answered</a>") == 3


def test_models_are_ticked_as_asked(admin: Reader):
    one, two, retired = make.model(), make.model(), make.model(status="retired")
    keyless = make.model(at="http://127.0.0.1:9/v2")
    type(keyless.provider).objects.filter(pk=keyless.provider_id).update(needs_key=True)
    first = admin.get(TESTS).text
    assert (first.count(" checked"), f"{keyless} – not set up: no key" in first) == (2, True)
    assert f"{retired}" not in first
    assert admin.get(f"{TESTS}?tick=all").text.count(" checked") == 3
    assert admin.get(f"{TESTS}?tick=").text.count(" checked") == 0
    form = {"action": "test", "_selected_action": [one.pk]}
    answer = admin.post("/admin/models_registry/languagemodel/", data=form)
    assert answer.headers["Location"] == f"{TESTS}?tick={one.pk}"
    assert admin.get(f"{TESTS}?tick={two.pk}").text.count(" checked") == 1
    assert admin.post(TESTS, data={"prompt": "hello"}).status_code == 422


def test_several_tests_need_change_permission(reader: Reader, fake_provider: FakeProvider):
    model = make.model("honest", at=fake_provider.base_url)
    make.user("staff@example.org", is_staff=True)
    reader.post("/accounts/login/", data={"login": "staff@example.org", "password": "a-good-password"})
    assert reader.post(TESTS, data={"prompt": "hello", "models": [model.pk]}).status_code == 403
    assert reader.get(f"{TESTS}x/").status_code == 403
    assert not fake_provider.calls


def test_expired_tests_say_so(admin: Reader):
    assert "These tests have expired." in admin.get(f"{TESTS}unknown/").text
