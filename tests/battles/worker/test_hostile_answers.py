"""Answers that are expensive to render do not delay other battles and are stored within bounds."""

import threading
import time

import pytest

from battles.models import Answer
from battles.text.style import style_counts
from common.text.markdown import MAX_HTML_CHARACTERS, render
from tests import make
from tests.fake_provider import FakeProvider
from tests.provider_streams import SLOW_TO_RENDER
from tests.site import Reader
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def start(reader: Reader, left: str, right: str) -> dict:
    response = reader.api(
        "POST", "sessions/", {"prompt": "hello " * 5, "mode": "side_by_side", "models": [left, right]}
    )
    assert response.status_code == 201, response.text
    return response.json()["battles"][0]


def test_slow_answers_do_not_delay_another_battle(reader: Reader, fake_provider: FakeProvider, settings):
    settings.ARENA_MAX_TOKENS = 10_000  # so that no answer is cut
    for name in ("long", "honest", *SLOW_TO_RENDER):
        make.model(name, at=fake_provider.base_url, slug=name)
    honest = start(reader, "long", "honest")
    events: list[tuple[str, str, str]] = []
    following = threading.Thread(target=lambda: events.extend(reader.follow(honest["stream_url"])))
    following.start()
    wait_for(lambda: fake_provider.calls["long"])
    other = Reader(reader.site)
    hostile = [start(other, name, "honest") for name in SLOW_TO_RENDER]
    following.join(120)
    # The text takes 4 s, at one entry per tick of at most 0.25 s; rendering on the loop left only a handful of entries.
    entries = {id.partition(".")[0] for id, name, _ in events if name in ("text", "block")}
    assert len(entries) > 8
    for battle in hostile:
        other.wait_until_answered(battle)
    stored = dict(Answer.objects.values_list("side__model__slug", "text"))
    assert {name: stored[name] for name in SLOW_TO_RENDER} == SLOW_TO_RENDER
    assert max(map(len, Answer.objects.values_list("html", flat=True))) <= MAX_HTML_CHARACTERS


def test_worker_spends_little_time_on_an_answer_of_brackets(reader: Reader, fake_provider: FakeProvider):
    for name in ("brackets", "honest"):
        make.model(name, at=fake_provider.base_url, slug=name)
    began = time.process_time()
    render(SLOW_TO_RENDER["brackets"])
    between = time.process_time()
    reader.wait_until_answered(start(reader, "brackets", "honest"))
    # Worker, site and provider are threads of this process; rendering happens in a child process.
    assert time.process_time() - between < (between - began) / 2


def test_style_of_blank_lines_is_counted_in_linear_time():
    began = time.thread_time()
    assert style_counts("- one\n" + "\n" * 30_000, 1)["lists"] == 1
    assert time.thread_time() - began < 5  # \s* at the beginning of each line took 18 s
