import ast
import re
from pathlib import Path

from django.conf import settings

from tests.doc_checks import OF_THE_IMAGE
from tests.worlds.compose_file import variables as variables_of_the_compose_file

# Read by Compose itself.
COMPOSE = {"COMPOSE_PROFILES", "COMPOSE_FILE"}
SOURCES = ("arena_site/settings", "arena_site/supervisor", "arena_site/management")


def variables_read() -> set[str]:
    """Return the names in `env.str("NAME")`, `env.str(prefix + "NAME")` and `os.environ.get("NAME")`."""
    names = set()
    for folder in SOURCES:
        for file in (settings.BASE_DIR / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                    reader, name = ast.unparse(node.func), node.args[0]
                    if not re.fullmatch(r"env\.\w+|os\.environ\.get", reader):
                        continue
                    if isinstance(name, ast.Constant):
                        names.add(name.value)
                    elif isinstance(name, ast.BinOp) and isinstance(name.right, ast.Constant):
                        names.add(f"ARENA_SSO_COMPANY_{name.right.value}")  # with the key of the example
    return names - {"DJANGO_SETTINGS_MODULE"}


def test_env_example_lists_every_variable():
    example = Path(settings.BASE_DIR / ".env.example").read_text()
    listed = set(re.findall(r"^#? ?([A-Z][A-Z0-9_]+)=", example, flags=re.MULTILINE))
    provider_keys = {name for name in listed if name.endswith("_API_KEY")}
    read = variables_read() | variables_of_the_compose_file() | COMPOSE
    assert read >= OF_THE_IMAGE
    assert listed - provider_keys == read - OF_THE_IMAGE
