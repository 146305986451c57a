"""Run each block of docs/operating.md in scratch clones of this tree: `python -m tools.manual`.

Commands run as they stand, in the order of the document, beside an arena of `make up` on ARENA_PORT. Programs that need
another machine (docker, kubectl, helm) are replaced in stand_ins.sh by the part of them that runs here; each replaced
or skipped command is printed with the reason. Settings are read by the arena, files where their first line says, and
the configurations of proxies by the test that runs these.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

from arena_site.embedded.postgres import Postgres
from tests.waiting import wait_for
from tests.worlds.programs import running
from tools.machine import is_ready

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "operating.md"
STAND_INS = Path(__file__).with_name("stand_ins.sh")
PROXY_TEST = "tests/arena_site/serving/test_proxies.py"
# Program of a proxy by the language of its configuration; Traefik's is YAML.
PROXIES = {"caddyfile": "caddy", "nginx": "nginx", "apache": "apache2", "haproxy": "haproxy", "yaml": "traefik"}
ASSIGNMENT = re.compile(r"[A-Z][A-Z0-9_]*=\S")
START_TIMEOUT_S, BLOCK_TIMEOUT_S = 300, 600
MODEL = """\
- id: of-the-manual
  name: Of the manual
  model: any
  base_url: http://127.0.0.1:1
  needs_key: false
"""
# What a site of the production settings has besides the settings of a block.
SITE = {
    "DJANGO_SETTINGS_MODULE": "arena_site.settings.production",
    "ARENA_HOSTS": "arena.example.org",
    "DATABASE_URL": "postgres://none@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}


@dataclass(frozen=True)
class Block:
    line: int
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        return [line.strip() for line in self.text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    @property
    def kind(self) -> str:
        if self.language == "yaml" and not self.text.startswith("http:"):
            return "file" if self.text.startswith("# ") else "model"
        if self.language in PROXIES:
            return "proxy"
        return "settings" if all(map(ASSIGNMENT.match, self.commands)) else "commands"


@dataclass
class Outcome:
    error: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class World:
    """Scratch clones beside an arena that runs."""

    folder: Path
    port: str
    clones: int = 0

    @property
    def arena(self) -> Path:
        return self.folder / "arena"

    @property
    def operator(self) -> Path:
        return self.folder / "operator"

    def clone(self, name: str = "") -> Path:
        """Return a clone with this tree's packages."""
        self.clones += 1
        tree = self.folder / (name or f"clone-{self.clones}")
        subprocess.run(["git", "clone", "--quiet", ROOT, tree], check=True)
        (tree / ".venv").symlink_to(ROOT / ".venv")
        for file in tree.rglob("*"):
            if not file.is_symlink():
                os.utime(file, (0, 0))  # so that make finds the packages newer than their lists
        return tree

    def environment(self, **more: str) -> dict[str, str]:
        known = {name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "DJANGO_"))}
        own = {
            "ARENA_TREE": self.arena,
            "SCRATCH": self.folder,
            "BIN": ROOT / ".venv/bin",
            "ARENA_PORT": self.port,
            "ARENA_LOCAL_MODEL": 0,
            "START_TIMEOUT_S": START_TIMEOUT_S,
        }
        return known | {name: str(value) for name, value in own.items()} | more

    def tree_of(self, block: Block) -> Path:
        if "make up" in block.text:
            return self.clone()
        if "make restore" in block.text:  # before the first start
            tree = self.clone()
            (tree / "arena.zip").write_bytes((self.arena / "arena.zip").read_bytes())
            return tree
        first = block.commands[0].split()
        return self.arena if "manage.py" in first[:2] or block.kind == "model" else self.operator

    def run(self, block: Block, environment: dict[str, str]) -> Outcome:
        script = f". {STAND_INS}\nset -x\n{block.text}"
        notes = self.folder / "notes"
        with notes.open("w") as file:
            os.dup2(file.fileno(), 9)
            done = subprocess.run(
                ["timeout", str(BLOCK_TIMEOUT_S), "bash", "-e", "-o", "pipefail", "-c", script],
                cwd=self.tree_of(block), env=environment, pass_fds=(9,), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        return Outcome("" if done.returncode == 0 else done.stdout[-2000:], notes.read_text().splitlines())

    def read_settings(self, block: Block) -> Outcome:
        """Let the arena and, if they are its own, compose read the settings."""
        if "COMPOSE_" in block.text:
            before = (self.operator / ".env").read_text()
            try:
                (self.operator / ".env").write_text(before + block.text)
                return self.run(Block(block.line, "sh", "compose_files 'settings of compose'"), self.environment())
            finally:
                (self.operator / ".env").write_text(before)
        file = self.folder / "settings"
        file.write_text((self.operator / ".env").read_text() + block.text)
        more = {name: value for name, value in SITE.items() if f"{name}=" not in block.text}
        done = subprocess.run(
            [sys.executable, "manage.py", "check"],
            cwd=self.operator, env=self.environment(ARENA_ENV_FILE=str(file), **more), capture_output=True, text=True,
        )  # fmt: skip
        return Outcome("" if done.returncode == 0 else done.stderr[-2000:])

    def import_model(self, block: Block) -> Outcome:
        """Import a model with the lines of the block."""
        (self.arena / "of-the-manual.yaml").write_text(MODEL + block.text)
        return self.run(Block(block.line, "", "manage.py import_models of-the-manual.yaml"), self.environment())


def blocks(text: str) -> list[Block]:
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        Block((token.map or [0])[0] + 1, token.info, token.content)
        for token in tokens
        if token.type in ("fence", "code_block")
    ]


@contextmanager
def world() -> Iterator[tuple[World, dict[str, str]]]:
    """Yield the world and the environment of its commands."""
    with tempfile.TemporaryDirectory(prefix="arena-manual-", dir="/tmp") as folder, ExitStack() as stack:
        Path(folder).chmod(0o711)
        made = World(Path(folder), os.environ.get("ARENA_PORT", "8010"))
        made.clone("operator")
        tree = made.clone("arena")
        # The file that the manual imports.
        (tree / "votes.csv").write_bytes((ROOT / "tests/data/votes/arena_20240814_paircounts.csv").read_bytes())
        empty = Postgres(made.folder / "empty", made.folder / "sockets", "secret")
        stack.enter_context(running(empty.server(), made.folder))
        launcher = stack.enter_context(
            subprocess.Popen(["make", "--silent", "up"], cwd=tree, env=made.environment(), stdout=subprocess.DEVNULL)
        )
        stack.callback(launcher.terminate)
        wait_for(lambda: is_ready(f"http://127.0.0.1:{made.port}") or launcher.poll() is not None, START_TIMEOUT_S)
        if launcher.poll() is not None:
            raise SystemExit("make up ended. Is ARENA_PORT free?")
        # The blocks start arenas of their own on the next port.
        yield made, made.environment(EMPTY_DATABASE_URL=empty.url, ARENA_PORT=str(int(made.port) + 1))


def main() -> int:
    found = blocks(DOCUMENT.read_text())
    outcomes: list[Outcome] = []
    with world() as (scratch, environment):
        for block in found:
            match block.kind:
                case "proxy":
                    outcome = run_proxy_test(PROXIES[block.language])
                case "file":
                    path = scratch.operator / block.text.splitlines()[0].removeprefix("# ")
                    path.write_text(block.text)
                    outcome = Outcome()
                case "model":
                    outcome = scratch.import_model(block)
                case "settings":
                    outcome = scratch.read_settings(block)
                case _:
                    outcome = scratch.run(block, environment)
            outcomes.append(outcome)
            print_outcome(block, outcome)
    notes = [note.split("|")[0] for outcome in outcomes for note in outcome.notes]
    failed = sum(bool(outcome.error) for outcome in outcomes)
    print(
        f"{len(found)} blocks: {len(found) - failed} passed, {failed} failed;"
        f" {notes.count('instead')} commands replaced, {notes.count('skipped')} skipped"
    )
    return bool(failed)


def run_proxy_test(program: str) -> Outcome:
    command = [sys.executable, "-m", "pytest", "-q", "-rs", PROXY_TEST, "-k", f"[{program}]"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    skipped = re.findall(r"^SKIPPED .*?: (.*)$", done.stdout, re.MULTILINE)
    return Outcome("" if done.returncode == 0 else done.stdout[-2000:], [f"skipped|{program}|{why}" for why in skipped])


def print_outcome(block: Block, outcome: Outcome) -> None:
    print(f"{DOCUMENT.name}:{block.line:<5} {block.kind:9} {'FAILED' if outcome.error else 'passed'}", flush=True)
    for note in outcome.notes:
        kind, command, reason = note.split("|", 2)
        print(f"    {kind:8} {command}  ({reason})")
    if outcome.error:
        print("    " + outcome.error.replace("\n", "\n    "))


if __name__ == "__main__":
    sys.exit(main())
