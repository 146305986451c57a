import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from accounts.models import Scope
from battles.models import Battle
from models_registry.config.models_file import import_models
from models_registry.models import LanguageModel
from tests import make
from tests.doc_checks import FILES, Document, known_variables, problems, shell_lines, variables
from tests.fake_provider import FakeProvider
from tests.site import Reader

pytestmark = pytest.mark.processes

ROOT: Path = settings.BASE_DIR
README = Document.read(ROOT / "README.md")
SPOILED = """
# A document

[gone](gone.md) and [no heading](#no-heading), `config/gone.yaml`, `ARENA_GONE` and `ARENA_GONE_…_DAY`.
Run `make gone`, `manage.py gone`, `.venv/bin/python manage.py import_models --gone`, or

```sh
deploy/gone.sh >> .env
docker compose gone
docker compose exec gone python manage.py migrate
docker compose exec web python manage.py backup
docker compose up gone
```

    manage.py export_votes --gone votes.csv

```sh
for gone in
```

```python
def gone(
```

```yaml
{gone
```
"""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_have_no_broken_references(path: Path):
    assert problems(Document.read(path)) == []


def test_broken_references_are_found():
    complaints = "\n".join(problems(Document(ROOT / "spoiled.md", SPOILED)))
    for complaint in (
        "gone.md leads nowhere",
        "#no-heading: there is no such heading",
        "config/gone.yaml: there is no such file",
        "ARENA_GONE is no setting",
        "ARENA_GONE_…_DAY is no setting",
        "make has no target gone",
        "manage.py has no command gone",
        "import_models --gone: Error: unrecognized arguments",
        "deploy/gone.sh: there is no such program",
        "compose has no command gone",
        "exec gone python manage.py migrate: none of its words is a service",
        "up gone: gone is no service",
        "export_votes --gone votes.csv: Error: unrecognized arguments",
        "this is no sh",
        "this is no python",
        "this is no yaml",
    ):
        assert complaint in complaints


def test_operating_manual_names_every_setting():
    named = variables(Document.read(ROOT / "docs" / "operating.md"))
    provider_keys = {name for name in known_variables() if name.endswith("_API_KEY")}
    assert known_variables() - provider_keys - named == set()


def test_readme_links_guides_and_pictures():
    targets = {str(token.attrGet("href") or token.attrGet("src")) for token in README.tokens if token.attrs}
    assert {"docs/screenshots/light/battle.png", "docs/method.md", "docs/operating.md", "CONTRIBUTING.md"} <= targets
    images = [*(ROOT / "docs" / "screenshots").rglob("*.png")]
    assert all(image.read_bytes().startswith(b"\x89PNG") for image in images)
    assert sum(image.stat().st_size for image in images) < 12_000_000


@pytest.mark.django_db
def test_readme_model_is_imported_and_its_key_named(client):
    (entry,) = [text for language, text in README.blocks if language == "yaml"]
    import_models(entry)
    assert LanguageModel.objects.get().name == "Qwen3 on our server"
    (variable,) = [line.split("=")[0].split()[-1] for line in lines_of_readme() if line.startswith("echo ")]
    assert variable in (ROOT / "config" / "models.yaml").read_text()
    assert client.get(reverse("admin:index")).url.startswith("/admin/login/")  # the README names `/admin/`


def lines_of_readme() -> list[str]:
    return [line for language, text in README.blocks if language == "sh" for line in shell_lines(text)]


@pytest.mark.django_db(transaction=True)
def test_readme_api_calls_work(fake_provider: FakeProvider, site: str):
    make.model("honest", at=fake_provider.base_url)
    make.model("honest", at=fake_provider.base_url)
    token = make.token(scopes=[Scope.READ, Scope.BATTLE, Scope.VOTE])
    reader = Reader(site)
    answers = [sent(reader, line.replace("$TOKEN", token)) for line in lines_of_readme() if line.startswith("curl ")]
    assert answers == [200, 201]
    assert Battle.objects.get().turns.get().prompt == "Name three rivers."


def sent(reader: Reader, curl: str) -> int:
    """Send the request of this curl command line and return its status."""
    words = shlex.split(curl)
    address = next(word for word in words if word.startswith("http://127.0.0.1:8000/"))
    options = list(pairwise(words))
    headers = dict(value.split(": ", 1) for name, value in options if name == "-H")
    body = next((value for name, value in options if name == "-d"), None)
    method = next((value for name, value in options if name == "-X"), "GET")
    path = address.removeprefix("http://127.0.0.1:8000")
    return reader.client.request(method, path, headers=headers, content=body).status_code


def test_examples_have_help():
    for example in (ROOT / "examples").glob("*.py"):
        output = subprocess.run([sys.executable, example, "--help"], capture_output=True, text=True, check=True).stdout
        assert f"python3 examples/{example.name}" in output
