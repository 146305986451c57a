import logging
import sys
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise
from random import Random

import pytest
from django.views.debug import get_exception_reporter_class

from common import logs
from common.text import redaction
from common.text.redaction import MASK, StreamRedactor, redact

KEY = "sk-live-4f9c-sk-live-do-not-show-7Q2z"


@pytest.fixture
def _registered_key() -> Iterator[None]:
    redaction.register_secret(KEY)
    yield
    redaction._known.discard(KEY)
    redaction._known_pattern = None


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {MASK}"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {MASK}"),
        ("token arena_" + "x" * 43 + " used", f"token {MASK} used"),
        ("{'password': 'hunter2', 'name': 'Ada'}", f"{{'password': {MASK}, 'name': 'Ada'}}"),
        ("email=a@b&password=hunter2&next=/", f"email=a@b&password={MASK}&next=/"),
        ("postgres://arena:hunter2@db:5432/arena", f"postgres://{MASK}@db:5432/arena"),
        ("arena_site.requests and the bearer of news", "arena_site.requests and the bearer of news"),
        ("a password is wrong; see http://127.0.0.1:8000/", "a password is wrong; see http://127.0.0.1:8000/"),
    ],
)
def test_patterns_of_secrets_are_masked(text: str, masked: str):
    assert redact(text) == masked


@pytest.mark.usefixtures("_registered_key")
def test_registered_secret_is_masked():
    assert redact(f"upstream said {KEY}!") == f"upstream said {MASK}!"


def test_short_secret_is_not_masked():
    redaction.register_secret("ollama")
    assert redact("what is ollama?") == "what is ollama?"


@pytest.mark.parametrize("seed", range(20))
def test_secret_in_pieces_is_masked(seed: int):
    draw = Random(seed)
    text = "".join(draw.choice([KEY, KEY[:7], KEY[-6:], "s", "sk-", "sky", " and "]) for _ in range(30))
    cuts = sorted({0, len(text), *(draw.randrange(len(text)) for _ in range(40))})
    redactor = StreamRedactor(KEY)
    masked = "".join(redactor.feed(text[a:b]) for a, b in pairwise(cuts)) + redactor.flush()
    assert masked == text.replace(KEY, MASK)


def test_pieces_without_partial_secret_are_not_held_back():
    redactor = StreamRedactor(KEY)
    assert [redactor.feed(piece) for piece in ("Yes, ", "ask me")] == ["Yes, ", "ask me"]


@pytest.mark.usefixtures("_registered_key")
@pytest.mark.parametrize("style", ["json", "text"])
def test_log_lines_hold_no_key_in_message_fields_or_traceback(style: str):
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs.formatter(style))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    try:
        raise ValueError(KEY)
    except ValueError:
        logger.exception("refused: %s", KEY, extra={"headers": {"Authorization": f"Bearer {KEY}"}})
    assert "ValueError" in written.getvalue()
    assert MASK in written.getvalue()
    assert KEY not in written.getvalue()


@pytest.mark.usefixtures("_registered_key")
def test_error_reports_hold_no_key_in_traceback_or_variables():
    words = f"sent with {KEY}"
    try:
        raise ValueError(words)
    except ValueError:
        reporter = get_exception_reporter_class(None)(None, *sys.exc_info())
    shown = reporter.get_traceback_html() + reporter.get_traceback_text()
    assert "sent with [secret]" in shown
    assert KEY not in shown
