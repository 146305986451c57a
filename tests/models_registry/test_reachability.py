import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.utils import timezone

from models_registry.health import reachability
from models_registry.health.reachability import probe_keyless_providers
from models_registry.models import LanguageModel, Provider
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for every answer, also on a busy machine."""
    monkeypatch.setattr(reachability, "PROBE_TIMEOUT_S", 30.0)


@contextmanager
def serve_reply(reply: bytes, *, barrier: Barrier | None = None) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the server's base URL and its requests; with an empty reply it accepts and stays silent."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                conversation, _ = listener.accept()
            except OSError:
                return
            with conversation:
                seen.append(conversation.recv(4096))
                if barrier is not None:
                    barrier.wait(60)
                if reply:
                    conversation.sendall(reply)
                else:
                    conversation.recv(1)

    Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", seen
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def reply(status: str, headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n{headers}\r\n".encode()


def is_answering(provider: Provider) -> bool:
    probe_keyless_providers()
    provider.refresh_from_db()
    return provider.is_answering


@pytest.fixture
def deserted() -> Iterator[str]:
    """Return the base URL of a port that is taken but has no listener."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("status", "expected"),
    [("200 OK", True), ("404 Not Found", True), ("401 Unauthorized", True), ("503 Loading", False)],
)
def test_status_below_500_is_an_answer(status: str, expected: bool):
    with serve_reply(reply(status)) as (url, seen):
        assert is_answering(make.provider(url, is_answering=not expected)) is expected
    assert seen[0].startswith(b"GET /v1/models HTTP/1.1\r\n")


def test_refused_connection_is_no_answer(deserted: str):
    assert not is_answering(make.provider(deserted))


@pytest.mark.usefixtures("patient")
def test_redirect_is_an_answer_and_not_followed():
    with serve_reply(reply("200 OK")) as (elsewhere, seen_elsewhere):
        with serve_reply(reply("302 Found", f"Location: {elsewhere}\r\n")) as (url, _):
            assert is_answering(make.provider(url))
        assert seen_elsewhere == []


@pytest.mark.usefixtures("patient")
def test_servers_are_probed_concurrently():
    all_probed = Barrier(20)
    with ExitStack() as servers:
        for _ in range(20):
            server = serve_reply(reply("200 OK"), barrier=all_probed)
            make.provider(servers.enter_context(server)[0], is_answering=False)
        probe_keyless_providers()
    assert Provider.objects.filter(is_answering=True).count() == 20


@pytest.mark.slow
def test_silent_server_is_not_answering():
    with serve_reply(b"") as (url, _):
        assert not is_answering(make.provider(url))


def test_provider_with_key_is_not_probed():
    with serve_reply(reply("200 OK")) as (url, seen):
        make.provider(url, needs_key=True)
        probe_keyless_providers()
        assert seen == []


def test_local_model_without_address_is_not_answering(settings):
    settings.ARENA_LOCAL_MODEL_URL = ""
    provider = make.provider("${ARENA_LOCAL_MODEL_URL}")
    assert not is_answering(provider)


@pytest.mark.usefixtures("patient")
def test_local_model_is_probed_at_its_address(settings, fake_provider: FakeProvider):
    settings.ARENA_LOCAL_MODEL_URL = fake_provider.base_url
    assert is_answering(make.provider("${ARENA_LOCAL_MODEL_URL}", is_answering=False))


@pytest.mark.usefixtures("patient")
def test_unchanged_answer_is_stored_once_a_minute():
    with serve_reply(reply("200 OK")) as (url, _):
        just_now, long_ago = (timezone.now() - timedelta(seconds=age) for age in (5, 90))
        provider = make.provider(url, is_answering=True, probed_at=just_now)
        assert is_answering(provider)
        assert provider.probed_at == just_now
        Provider.objects.update(probed_at=long_ago)
        assert is_answering(provider)
        assert provider.probed_at > just_now


@pytest.mark.usefixtures("patient")
def test_models_are_drawn_only_while_server_answers(fake_provider: FakeProvider, deserted: str):
    up = make.model(at=fake_provider.base_url)
    make.model(at=deserted)
    probe_keyless_providers()
    assert LanguageModel.objects.drawable() == [up]


def test_probe_ignores_proxy_variable(monkeypatch: pytest.MonkeyPatch, deserted: str):
    with serve_reply(reply("200 OK")) as (proxy, seen):
        monkeypatch.setenv("HTTP_PROXY", proxy.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert not is_answering(make.provider(deserted))
        assert seen == []
