import signal
import threading

import pytest
import uvicorn

from arena_site.embedded import web
from arena_site.embedded.connections import listening_socket
from tests.waiting import wait_for


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_signal_ends_server_before_its_next_tick(loop: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(web, "TICK_S", 3600)
    server = web.Server(uvicorn.Config(lambda: None, loop=loop, lifespan="off", log_config=None))
    thread = threading.Thread(target=server.run, args=[[listening_socket("127.0.0.1", 0)]], daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    server.handle_exit(signal.SIGTERM, None)
    thread.join(60)
    assert not thread.is_alive()
