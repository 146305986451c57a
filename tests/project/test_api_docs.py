import os
import subprocess
import sys

import pytest
from django.conf import settings

from accounts.models import Scope
from battles.models import Vote
from common.valkey import counters
from tests import make
from tests.doc_checks import Document, shell_lines
from tests.fake_provider import FakeProvider
from tests.project.test_docs import sent
from tests.site import Reader
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = Document.read(settings.BASE_DIR / "docs" / "api.md")


@pytest.fixture
def token(fake_provider: FakeProvider) -> str:
    for name in ("Ada", "Grace"):
        make.model("patient", at=fake_provider.base_url, name=name)
    return make.token(scopes=[Scope.READ, Scope.BATTLE, Scope.VOTE])


def test_curl_calls_of_the_docs_work_in_order(site: str, token: str, fake_provider: FakeProvider):
    reader, battle = Reader(site, token), ""
    answers = []
    for line in [line for language, text in PAGE.blocks if language == "sh" for line in shell_lines(text)]:
        if line.startswith("curl "):
            answers.append(sent(reader, line.replace("$TOKEN", token).replace("$BATTLE", battle)))
            if not battle:
                battle = reader.api("GET", "sessions/").json()["results"][0]["id"]
                battle = reader.api("GET", f"sessions/{battle}/").json()["battles"][0]["id"]
            if "/stream/" in line:
                fake_provider.go_on()
                reader.wait_until_answered(reader.battle(battle))
    assert answers == [201, 307, 200, 201, 200, 200, 200]
    assert Vote.objects.count() == 1


@pytest.mark.processes
def test_python_example_prints_answers_and_names(site: str, token: str, fake_provider: FakeProvider):
    (program,) = [text for language, text in PAGE.blocks if language == "python"]
    environment = {**os.environ, "ARENA": site, "TOKEN": token}
    others = counters._gauges["streams"]
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as playing:
        wait_for(lambda: counters._gauges["streams"] > others or playing.poll() is not None, within=60)
        fake_provider.go_on()
        output, errors = playing.communicate()
    assert errors == ""
    assert "event: text" in output
    assert "event: end" in output
    assert sorted(eval(output.splitlines()[-1])) == ["Ada", "Grace"]
    assert Vote.objects.get().choice == Vote.Choice.TIE
