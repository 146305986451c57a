import html
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import httpx2
import pytest
import yaml
from django.test import Client
from openai import OpenAI

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.models import ApiToken
from accounts.personal_data import collect_personal_data
from arena_site.retention import purge
from battles.models import Call
from gateway.models import Exchange
from gateway.snippets import snippets
from models_registry.versions import set_price
from tests import make
from tests.gateway.software import ASKED, issue_token, openai_client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def keeping_token(owner: Actor) -> str:
    return issue_token(owner, keeps_texts=True)


@pytest.mark.processes
def test_snippets_run_unchanged(address: str, token: str, model: Callable[..., Any], settings: Any):
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    model()
    page = httpx2.get(f"{address}/software/").text
    code = {
        key: html.unescape(text) for key, text in re.findall(r'<pre id="code-([\w-]+)"[^>]*>(.*?)</pre>', page, re.S)
    }
    assert list(code) == [snippet.key for snippet in snippets(address)]
    assert all(address in text for text in code.values())
    environment = {**os.environ, "ARENA_TOKEN": token, "NO_PROXY": "*"}
    answered = subprocess.run(["sh", "-c", code["curl"]], env=environment, capture_output=True, text=True, timeout=60)
    assert json.loads(answered.stdout)["choices"][0]["message"]["content"] == "Name a river. "
    printed = subprocess.run(
        [sys.executable, "-c", code["python"]], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (printed.stdout, printed.returncode) == ("Name a river. ", 0)


def test_snippets_name_the_address_once_each():
    for snippet in snippets("https://arena.example/v1"):
        # Anthropic's clients add /v1 themselves.
        assert snippet.code.count("https://arena.example") == 1
        assert ("https://arena.example/v1" in snippet.code) is (snippet.key != "claude-code")


def test_snippets_for_files_are_well_formed():
    code = {snippet.key: snippet.code for snippet in snippets("https://arena.example/v1")}
    assert tomllib.loads(code["codex"])["model_providers"]["arena"]["base_url"] == "https://arena.example/v1"
    [model] = yaml.safe_load(code["continue"])["models"]
    assert model["apiKey"] == "${{ secrets.ARENA_TOKEN }}"
    options = json.loads(code["opencode"])["provider"]["arena"]["options"]
    assert options == {"baseURL": "https://arena.example/v1", "apiKey": "{env:ARENA_TOKEN}"}


def test_token_page_offers_options_and_shows_use(
    client: OpenAI, model: Callable[..., Any], owner: Actor, keeping_token: str
):
    paid = model()
    set_price(paid, Decimal(0), Decimal(10_000))
    client.chat.completions.create(model=paid.slug, messages=ASKED)
    browser = make.browser(owner)
    page = browser.get("/accounts/tokens/").text
    assert "1 request in 30 days, $0.03" in re.sub(r"\s+", " ", page)
    assert "0 requests in 30 days" in re.sub(r"\s+", " ", page)
    assert 'name="keeps_texts"' in page
    made = {"name": "app", "scopes": ["gateway"], "days": "30", "keeps_texts": "on", "caches_answers": "on"}
    assert browser.post("/accounts/tokens/", made).status_code == 201
    row = ApiToken.objects.get(name="app")
    assert (row.keeps_texts, row.caches_answers) == (True, True)
    browser.post("/accounts/tokens/", {**made, "name": "reader", "scopes": ["read"]})
    assert not ApiToken.objects.get(name="reader").keeps_texts


def test_api_lists_use_of_tokens(client: OpenAI, model: Callable[..., Any], owner: Actor):
    client.chat.completions.create(model=model().slug, messages=ASKED)
    [listed] = make.browser(owner).get("/api/v1/me/tokens/").json()["results"]
    assert listed["usage"] == {
        "days": 30, "requests": 1, "prompt_tokens": 7, "completion_tokens": 3, "cost": "0",
    }  # fmt: skip
    assert (listed["keeps_texts"], listed["caches_answers"]) == (False, False)


def test_kept_texts_belong_to_their_owner(address: str, keeping_token: str, model: Callable[..., Any], owner: Actor):
    with openai_client(address, keeping_token) as client:
        client.chat.completions.create(model=model().slug, messages=ASKED)
    assert owner.user is not None
    exchange = Exchange.objects.get()
    assert exchange.texts == {"messages": ASKED, "answer": {"role": "assistant", "content": "one two three "}}
    [exported] = collect_personal_data(owner.user)["gateway_exchanges"]
    assert exported["texts"] == exchange.texts
    make.user(is_superuser=True)
    delete_account(owner.user)
    exchange.refresh_from_db()
    assert (exchange.texts, exchange.user, exchange.session_digest) == (None, None, "")


def test_old_exchanges_are_purged(client: OpenAI, model: Callable[..., Any]):
    client.chat.completions.create(model=model().slug, messages=ASKED)
    purge()
    assert Exchange.objects.count() == 1
    Exchange.objects.update(created_at="2020-01-01T00:00:00Z")
    purge()
    assert (Exchange.objects.count(), Call.objects.count()) == (0, 1)


def test_page_has_code_first_and_every_model(model: Callable[..., Any]):
    names = [model(slug=f"m-{number}").slug for number in range(14)]
    page = Client().get("/software/").text
    assert page.index('id="code-python"') < page.index('id="models"') < page.index('id="code-javascript"')
    assert re.findall(r"<code>(m-\d+)</code>", page) == sorted(
        names, key=lambda name: page.index(f"<code>{name}</code>")
    )
    assert 'href="/accounts/tokens/?scopes=gateway#make"' in page


def test_token_link_chooses_the_rights_it_names(owner: Actor):
    def chosen(query: str) -> list[str]:
        page = make.browser(owner).get(f"/accounts/tokens/{query}").text
        return re.findall(r'name="scopes" value="(\w+)"[^>]* checked', page)

    assert (chosen("?scopes=gateway"), chosen("?scopes=none")) == (["gateway"], [])
    assert chosen("") == ["read", "battle", "vote"]


def test_private_site_shows_the_page_to_members(settings: Any):
    settings.ARENA_ACCESS = "private"
    assert Client().get("/software/").status_code == 302
    assert make.browser(make.member()).get("/software/").status_code == 200
