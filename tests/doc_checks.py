"""Checks of README and docs: links, commands, code blocks, names of settings and files."""

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import yaml
from django.conf import settings
from django.core.management import CommandError, get_commands, load_command_class
from markdown_it import MarkdownIt
from markdown_it.token import Token

from arena_site.removed_settings import IGNORED, REFUSED
from tests.worlds.compose_file import services

ROOT: Path = settings.BASE_DIR
FILES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md")])
SHELL = ("sh", "bash", "")
# A file or directory of this repository in prose: `config/models.yaml`, `deploy/`.
PATH = re.compile(
    r"(?:[\w.-]+/)+(?:[\w.-]+\.(?:py|md|yaml|yml|txt|json|html|sh|toml))?|[\w-]+\.(?:py|yaml|toml|example)"
)
VARIABLE = re.compile(
    r"(?<![A-Z_])(?:ARENA|POSTGRES|OLLAMA|DATABASE|REDIS|SECRET|EMAIL|COMPOSE|VALKEY|OTEL)_[A-Z0-9_…]*[A-Z0-9…]"
)


class WrongUsage(Exception):
    pass


@dataclass(frozen=True)
class Document:
    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> "Document":
        return cls(path, path.read_text())

    @property
    def tokens(self) -> list[Token]:
        return parsed(self.text)

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """(language, text); indented code has no language."""
        return [(token.info, token.content) for token in self.tokens if token.type in ("fence", "code_block")]

    @property
    def inline_code(self) -> list[str]:
        return [token.content for token in self.tokens if token.type == "code_inline"]

    @property
    def commands(self) -> list[list[str]]:
        """The words of every command, in prose and blocks."""
        in_blocks = [line for language, text in self.blocks if language in SHELL for line in shell_lines(text)]
        return [words for line in [*in_blocks, *self.inline_code] for words in simple_commands(line)]

    @property
    def anchors(self) -> set[str]:
        """Anchors that GitHub generates from headings."""
        headings = [after.content for token, after in pairwise(self.tokens) if token.type == "heading_open"]
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@cache
def parsed(text: str) -> list[Token]:
    """Return all tokens of a Markdown text, also inline ones."""
    blocks = MarkdownIt("commonmark").enable("table").parse(text)
    return [token for block in blocks for token in (block, *(block.children or []))]


def shell_lines(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


def simple_commands(line: str) -> list[list[str]]:
    """Return the words of each command in a line, without leading variables and redirections."""
    commands = []
    for part in re.split(r"&&|\|\||[|;]", line):
        words = [word.strip("\"'") for word in re.findall(r"\"[^\"]*\"|'[^']*'|\S+", part)]
        while words and re.match(r"\w+=|export$", words[0]):
            words = words[1:]
        redirection = next((place for place, word in enumerate(words) if word in (">", ">>", "<")), len(words))
        words = words[:redirection]
        commands += [words] if words else []
    return commands


def problems(document: Document) -> list[str]:
    """Return a sentence for each broken reference."""
    return [
        *broken_links(document),
        *broken_blocks(document),
        *unknown_commands(document),
        *unknown_names(document),
    ]


def broken_links(document: Document) -> Iterator[str]:
    for token in document.tokens:
        link = str(token.attrGet("href") or token.attrGet("src") or "")
        if not link or "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = document.path.parent / name if name else document.path
        if name and not target.exists():
            yield f"{link} leads nowhere"
        elif anchor and anchor not in (document if not name else Document.read(target)).anchors:
            yield f"{link}: there is no such heading"


def broken_blocks(document: Document) -> Iterator[str]:
    for language, text in document.blocks:
        try:
            match language:
                case "python":
                    ast.parse(text)
                case "json":
                    json.loads(text)
                case "yaml":
                    yaml.safe_load(text)
                case "sh" | "bash":
                    subprocess.run(["bash", "-n"], input=text, text=True, check=True, capture_output=True)
        except (SyntaxError, ValueError, yaml.YAMLError, subprocess.CalledProcessError) as error:
            yield f"this is no {language} ({error}): {text}"


def unknown_commands(document: Document) -> Iterator[str]:
    for words in document.commands:
        try:
            try_out(words)
        except (WrongUsage, CommandError) as error:
            yield f"{' '.join(words)}: {error}"


def try_out(words: list[str]) -> None:
    """Raise WrongUsage or CommandError for an unknown command or option of this repository."""
    match [Path(words[0]).name, *words[1:]]:
        case ["manage.py", name, *options]:
            try_out_manage(name, options)
        case ["python" | "python3" | "python3.11", "manage.py" | "./manage.py", name, *options]:
            try_out_manage(name, options)
        case ["make", *targets]:
            for target in targets:
                if "=" not in target and target not in make_targets():
                    raise WrongUsage(f"make has no target {target}")
        case ["docker", "compose", *rest]:
            try_out_compose(rest)
        case _ if words[0].startswith(("deploy/", ".ci/", "examples/")) and not (ROOT / words[0]).exists():
            raise WrongUsage("there is no such program")


def try_out_manage(name: str, options: list[str]) -> None:
    if name not in get_commands():
        raise WrongUsage(f"manage.py has no command {name}")
    if not options:
        return  # prose only names the command
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    parser.parse_args(["1" if re.fullmatch(r"[A-Z_]+|…", word) else word for word in options])


def try_out_compose(words: list[str]) -> None:
    known = {service.name for service in services()}
    verbs = {"up", "exec", "run", "logs", "build", "config", "down", "ps", "restart", "pull", "stop", "cp"}
    match words:
        case [verb, *_] if verb not in verbs and not verb.startswith("-"):
            raise WrongUsage(f"compose has no command {verb}")
        case ["exec" | "run", *rest] if rest:
            position = next((position for position, word in enumerate(rest) if word in known), None)
            if position is None:
                raise WrongUsage("none of its words is a service")
            try_out(rest[position + 1 :])
        case ["up", *rest]:
            named = [word for word in rest if not word.startswith("-") and "=" not in word]
            scaled = [word.partition("=")[0] for word in rest if re.match(r"[\w-]+=\d", word)]
            if unknown := {*named, *scaled} - known:
                raise WrongUsage(f"{', '.join(sorted(unknown))} is no service")


@cache
def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


# Size and health checks of processes and builds, which operators leave alone: docs/operating.md, "Several machines".
OF_THE_IMAGE = {
    "ARENA_ANSWER_CONCURRENCY", "ARENA_COMMIT", "ARENA_DATABASE_POOL", "ARENA_HEARTBEAT_FILE", "ARENA_WEB_PROCESSES",
}  # fmt: skip


@cache
def known_variables() -> set[str]:
    return set(re.findall(r"^#? ?([A-Z][A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def variables(document: Document) -> set[str]:
    """Return the settings named by a document; `ARENA_BUDGET_…_DAY` stands for all that match."""
    names: set[str] = set()
    for code in [*document.inline_code, *(text for language, text in document.blocks if language in SHELL)]:
        for name in VARIABLE.findall(code):
            pattern = re.escape(name).replace("…", "[A-Z0-9_]+")
            names |= {each for each in known_variables() if re.fullmatch(pattern, each)} or {name}
    return names


def is_removed(name: str) -> bool:
    return any(re.fullmatch(pattern, name.replace("…", "X")) for pattern in IGNORED | REFUSED)


def unknown_names(document: Document) -> Iterator[str]:
    tools = {"ARENA_BENCH_PYTHON"}  # read by `make bench` only
    for name in sorted(variables(document) - known_variables() - OF_THE_IMAGE - tools):
        if not (document.path.name == "CHANGELOG.md" and is_removed(name)):
            yield f"{name} is no setting"
    for code in document.inline_code:
        if PATH.fullmatch(code) and not exists(code, document.path.parent):
            yield f"{code}: there is no such file"


def exists(path: str, where: Path) -> bool:
    """Look the path up from the root, from the document, and in apps: `rating/` means `leaderboard/rating/`."""
    if path.startswith((".arena/", ".venv/")):
        return True
    return (
        any((base / path).exists() for base in (ROOT, where))
        or any(ROOT.glob(f"*/{path}"))
        or any(ROOT.glob(f"*/*/{path}"))
    )
