from common.valkey.connections import connection
from tests.site import answer_worker


def test_ended_worker_waits_for_no_task():
    """A pending read of the queue would take a task from the next test's worker and lose it."""
    for _ in range(3):
        with answer_worker():
            pass
        waiting = [client["cmd"] for client in connection().client_list() if "b" in client["flags"]]
        assert waiting == []
