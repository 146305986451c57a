"""Access rules of url_access.py; strangers get 404 for a person's data."""

import json
import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client

from accounts.actor import Actor
from accounts.models import ApiToken, Scope, SignIn
from battles.worker import model_tests
from benchmarks.actions import importing
from benchmarks.imports.content import Request
from benchmarks.reports.store import compute_report, store_report
from models_registry.payers import Payer
from tests import api_fixtures, make
from tests.api_fixtures import World
from tests.arena_site.security import url_access
from tests.site_urls import addresses
from tests.worlds.benchmarks import judged_runs
from tests.worlds.benchmarks import samples as benchmark_samples

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
SENT, FORM = {"prompt": "Hello", "choice": "left", "stars": 3, "title": "T"}, "application/x-www-form-urlencoded"
HIDDEN, NOT_ALLOWED, NO_SUCH_METHOD = 404, 403, 405
REFUSED = (401, NOT_ALLOWED, HIDDEN, 500)


def ask(client: Client, method: str, path: str) -> int:
    """Return the status of a request with the fields of all forms; roll its changes back."""
    is_json = path.startswith("/api/")
    data, media_type = (json.dumps(SENT), "application/json") if is_json else (urlencode(SENT), FORM)
    with transaction.atomic():
        status = client.generic(method, path, data, media_type).status_code
        transaction.set_rollback(True)
    return status


def program(actor: Actor, *scopes: Scope) -> Client:
    return make.api(actor.user, scopes=scopes)


@pytest.fixture(autouse=True)
def _no_limits(settings) -> None:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")


@pytest.fixture(params=["visitor", "member"])
def owned(request: pytest.FixtureRequest) -> World:
    return api_fixtures.create_world(make.visitor() if request.param == "visitor" else make.member())


@pytest.fixture
def others() -> dict[str, Client]:
    moderator, member = make.member(is_staff=True), make.member()
    return {
        "no one": Client(),
        "another visitor": make.browser(make.visitor()),
        "another member": make.browser(member),
        "a moderator": make.browser(moderator),
        "another's program": program(member, *Scope),
    }


def test_every_url_has_an_access_rule():
    named = [address for table in url_access.TABLES for address in table]
    paths = {path for path in addresses() if not path.startswith(("/admin/", "/accounts/")) or path in named}
    assert sorted(paths) == sorted(named)


@pytest.mark.slow
def test_readable_urls_answer_head():
    """Download programs and link previews send HEAD. Streams are excluded: they respond only when they are read."""
    staff, streams = make.browser(make.member(is_staff=True)), {*url_access.SIGNED, "/leaderboard/stream/"}
    readable = []
    for path in set(addresses()) - streams:
        if not path.startswith("/admin/"):
            filled = re.sub(r"{\w+}", "nothing", path)
            if ask(staff, "HEAD", filled) != NO_SUCH_METHOD:
                readable.append(path)
            else:
                assert ask(staff, "GET", filled) == NO_SUCH_METHOD, path
    assert len(readable) > 50


def paths_of(owned: World) -> Iterator[str]:
    for address, (id_in, _) in url_access.OWNED.items():
        yield address.format(public_id=id_in(owned))
    for address, id_in in url_access.OWNED_PAGES.items():
        yield address.format(public_id=id_in(owned))


@pytest.mark.slow
def test_owned_urls_answer_their_owner_only(owned: World, others: dict[str, Client]):
    owner, wrong = make.browser(owned.actor), []
    for path in paths_of(owned):
        answered = {method: ask(owner, method, path) for method in METHODS}
        there = [method for method, status in answered.items() if status != NO_SUCH_METHOD]
        assert there, path
        wrong += [("its owner", method, path) for method in there if answered[method] in REFUSED]
        wrong += [
            (who, method, path)
            for who, client in others.items()
            for method in there
            if ask(client, method, path) != HIDDEN
        ]
        wrong += [
            ("another visitor", method, path)
            for method in set(METHODS) - set(there)
            if ask(others["another visitor"], method, path) not in (NO_SUCH_METHOD, HIDDEN)
        ]
    assert wrong == []


@pytest.mark.slow
def test_token_is_limited_to_its_scopes():
    member, wrong = make.member(), []
    owned = api_fixtures.create_world(member)
    programs = {scope: program(member, scope) for scope in Scope}
    for address, (id_in, needed) in url_access.OWNED.items():
        path = address.format(public_id=id_in(owned))
        for method, wanted in needed.items():
            for scope, client in programs.items():
                status = ask(client, method, path)
                if status in REFUSED if scope == wanted else status != NOT_ALLOWED:
                    wrong.append((scope, method, path, status))
    assert wrong == []


@pytest.mark.slow
def test_browser_changes_need_csrf_token(owned: World):
    strict = make.browser(owned.actor, enforce_csrf_checks=True)
    unsafe = ("POST", "PUT", "PATCH", "DELETE")
    unsafe_requests = [(method, path) for path in paths_of(owned) for method in unsafe]
    assert [request for request in unsafe_requests if ask(strict, *request) != NOT_ALLOWED] == []


@pytest.mark.slow
def test_benchmark_urls_answer_their_owner_only(others: dict[str, Client]):
    member, (ada, bob, _cyd) = make.member(), api_fixtures.contestants()
    sample, wrong = benchmark_samples.sample(member.user, [ada, bob]), []
    sign_in = {"no one", "another visitor", "another's program"}
    drafted = sample.template.versions.get(state="draft").cases.earliest("pk")
    [judge, _grader] = judged_runs.judges_of_each_kind(ada, sample.run)
    trial = model_tests.store_request(ada, "", payer=Payer.of(member, None), note='{"kind": "pairwise"}')
    owner, strict = make.browser(member), make.browser(member, enforce_csrf_checks=True)
    for address in [address for address in url_access.BENCHMARKS if "{" in address]:
        public_id, case_id = (sample.run.public_id, sample.item.case_id)
        if "/t/" in address:
            public_id, case_id = sample.template.public_id, drafted.pk
        elif "/benchmarks/judges/" in address:
            public_id = judge.public_id
        ids = {"item_id": sample.item.pk, "file_id": sample.file_id, "move": "retry", "ending": "csv"}
        ids |= {"judge_id": judge.public_id, "test_id": trial}
        path = address.format(public_id=public_id, case_id=case_id, **ids)
        for method in ("GET", "POST"):
            status = ask(owner, method, path)
            wrong += [("its owner", method, path)] if status in REFUSED else []
            for who, client in others.items() if status != NO_SUCH_METHOD else ():
                hidden = (HIDDEN, 302) if who in sign_in else (HIDDEN,)
                wrong += [(who, method, path)] if ask(client, method, path) not in hidden else []
            wrong += [("a forged form", method, path)] if method == "POST" and ask(strict, method, path) != 403 else []
    assert wrong == []


@pytest.mark.parametrize(("address", "method"), url_access.MEMBERS_TOKENS.items())
def test_member_revokes_own_tokens_only(address: str, method: str, others: dict[str, Client]):
    member = make.member()
    row, _ = ApiToken.issue(user=member.user, name="t", scopes=[Scope.READ])
    path = address.format(public_id=row.public_id)
    assert ask(make.browser(member), method, path) in (204, 302)
    answers = {who: ask(client, method, path) for who, client in others.items()}
    strangers = {"another member": HIDDEN, "a moderator": HIDDEN}
    signed_out = 401 if path.startswith("/api/") else 302
    no_token = NOT_ALLOWED if path.startswith("/api/") else 302
    assert answers == {
        "no one": signed_out, "another visitor": signed_out, "another's program": no_token, **strangers,
    }  # fmt: skip
    assert ask(program(member, *Scope), method, path) == no_token
    assert ApiToken.objects.usable().filter(pk=row.pk).exists()


@pytest.mark.parametrize("address", url_access.MEMBERS_BROWSERS)
def test_member_signs_out_own_browsers_only(address: str, others: dict[str, Client]):
    member = make.member()
    here, there = make.browser(member), make.browser(member)
    path = address.format(public_id=SignIn.objects.get(session=there.session.session_key).public_id)
    wrong = HIDDEN if "{public_id}" in address else 302  # signing out "others" affects one's own browsers only
    answers = {who: ask(client, "POST", path) for who, client in others.items()}
    assert answers == {
        "no one": 302, "another visitor": 302, "another's program": 302, "another member": wrong, "a moderator": wrong,
    }  # fmt: skip
    for client in others.values():
        client.post(path)
    assert SignIn.objects.filter(user=member.user).count() == 2
    assert ask(here, "GET", path) == NO_SUCH_METHOD
    assert ask(here, "POST", path) == 302


@pytest.mark.parametrize("address", url_access.MEMBERS_BROWSERS_API)
def test_member_signs_out_own_browsers_only_by_api(address: str, others: dict[str, Client]):
    member = make.member()
    here, there = make.browser(member), make.browser(member)
    path = address.format(public_id=SignIn.objects.get(session=there.session.session_key).public_id)
    wrong = HIDDEN if "{public_id}" in address else 204
    answers = {who: ask(client, "DELETE", path) for who, client in others.items()}
    assert answers == {
        "no one": 401, "another visitor": 401, "another's program": NOT_ALLOWED, "another member": wrong,
        "a moderator": wrong,
    }  # fmt: skip
    assert ask(program(member, *Scope), "DELETE", path) == NOT_ALLOWED
    for client in others.values():
        client.delete(path)
    assert SignIn.objects.filter(user=member.user).count() == 2
    assert ask(make.browser(member, enforce_csrf_checks=True), "DELETE", path) == NOT_ALLOWED
    assert ask(here, "DELETE", path) == 204


@pytest.mark.parametrize("path", url_access.MEMBERS_PAGES)
def test_members_pages_redirect_others_to_sign_in(path: str, others: dict[str, Client]):
    answers = {who: ask(client, "GET", path) for who, client in others.items()}
    assert answers == {
        "no one": 302, "another visitor": 302, "another's program": 302, "another member": 200, "a moderator": 200,
    }  # fmt: skip


@pytest.mark.slow
def test_lists_show_own_rows_only(owned: World, others: dict[str, Client]):
    mine = make.browser(owned.actor)
    assert mine.get("/api/v1/sessions/").json()["count"] == len(owned.ids["sessions"])
    assert mine.get("/api/v1/uploads/").json()["count"] == len(owned.ids["uploads"])
    assert owned.waiting.session.public_id in mine.get("/sessions/").text
    assert owned.document.public_id in mine.get("/uploads/").text
    for client in others.values():
        assert client.get("/api/v1/sessions/").json()["count"] == 0
        assert client.get("/api/v1/uploads/").json()["count"] == 0
        assert owned.waiting.session.public_id not in client.get("/sessions/").text
        assert owned.document.public_id not in client.get("/uploads/").text


@pytest.mark.slow
def test_public_urls_are_equal_for_all(others: dict[str, Client]):
    world = api_fixtures.create_world(make.visitor(), with_boards=True)
    del others["another's program"]  # pages know no tokens
    for address in url_access.OPEN:
        ids = {"slug": "ada", "a": "ada", "b": "bob", "digest": "0", "rest": "nothing/", "key": "", "page": "terms"}
        path = address.format(**ids, public_id=world.ids["snapshots"][0])
        if path.startswith(("/api/", "/leaderboard/")):
            answers = {who: ask(client, "GET", path) for who, client in others.items()}
            assert len(set(answers.values())) == 1, path
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                assert ask(others["another visitor"], method, path) in (NO_SUCH_METHOD, HIDDEN), (method, path)


@pytest.mark.parametrize("path", url_access.SIGNED)
def test_stream_needs_token_signed_by_this_site(path: str, others: dict[str, Client]):
    for word in ("nonsense", "a:b:c"):
        answers = {who: ask(client, "GET", path.format(token=word)) for who, client in others.items()}
        assert answers == dict.fromkeys(others, HIDDEN)


def administration() -> Iterator[str]:
    for path in addresses():
        if path.startswith("/admin/") and path not in ("/admin/login/", "/admin/logout/", "/admin/{url}"):
            yield path.replace("{content_type_id}", "1").replace("{object_id}", "1")


@pytest.mark.slow
def test_every_admin_url_needs_staff(others: dict[str, Client]):
    paths = [path for path in administration() if "{" not in path]
    assert len(paths) > 50
    for who in ("no one", "another visitor", "another member", "another's program"):
        for path in paths:
            for method in ("GET", "POST"):
                response = others[who].generic(method, path)
                assert response.status_code == 302, (who, method, path)
                assert response["Location"].startswith("/admin/login/"), (who, method, path)


@pytest.mark.slow
def test_staff_without_permissions_gets_no_admin_page(others: dict[str, Client]):
    harmless = {
        "/admin/",
        "/admin/logout/",
        "/admin/password_change/",
        "/admin/password_change/done/",
        "/admin/jsi18n/",
    }
    for path in set(administration()) - harmless:
        if "{" not in path:
            assert ask(others["a moderator"], "GET", path) in (NOT_ALLOWED, HIDDEN, NO_SUCH_METHOD, 302), path


@pytest.mark.slow
def test_benchmark_api_needs_owner_and_scope(others: dict[str, Client]):
    member, (ada, bob, _cyd) = make.member(), api_fixtures.contestants()
    sample, wrong = benchmark_samples.sample(member.user, [ada, bob]), []
    version = sample.template.versions.get(state="frozen")
    live = benchmark_samples.live_run(member.user, version, [ada])
    later = benchmark_samples.finished_run(member.user, version, [ada])
    for run in (sample.run, later):
        store_report(run, compute_report(run))
    judge = judged_runs.judge(ada, member.user)
    preview = importing.preview(
        owner=member.user, content=b"country,expected\nFrance,Paris", request=Request("cases.csv")
    )
    programs = {scope: program(member, scope) for scope in Scope}
    for address, needed in url_access.BENCHMARKS_API.items():
        run = live if "stream" in address else sample.run
        ids = {
            "templates": sample.template.public_id,
            "runs": run.public_id,
            "items": f"{run.public_id}-{sample.item.pk}",
            "imports": preview.id,
            "{public_id}": judge.public_id,
        }
        path = address.format(public_id=ids.get(address.split("/")[4], ""), ending="jsonl")
        if path.endswith("/compare/"):
            path += f"?with={later.public_id}"
        for method, wanted in needed.items():
            for scope, client in programs.items():
                status = ask(client, method, path)
                if status in REFUSED if scope == wanted else status != NOT_ALLOWED:
                    wrong.append((scope, method, path, status))
            wrong += [
                (who, method, path)
                for who, client in others.items()
                if "{" in address and ask(client, method, path) != HIDDEN
            ]
    assert wrong == []
