"""Check the code's wording and shape against tools/style_limits.toml.

The limits only go down: lower them in the change that makes it possible (CONTRIBUTING.md, "Words").
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
APPS = (
    "accounts",
    "arena_site",
    "battles",
    "benchmarks",
    "routing",
    "reviews",
    "gateway",
    "common",
    "leaderboard",
    "metrics",
    "models_registry",
    "reviews",
    "site_content",
    "uploads",
)
RIDDLE = re.compile(
    r"(What|Who|Whom|Whose|Whoever|Whatever|Whether|Where|Wherever|When|How|Which|As|At|Behind|Beside|By|Down|For|From|In|"
    r"Inside|Into|Of|On|Out|Over|Through|To|Under|Until|Up|With|Within|Without)\b"
)
INDEFINITE = re.compile(r"\b(somebody|nobody|whoever|whatever)", re.IGNORECASE)
PREPOSITION = re.compile(
    r"# ?(About|Above|After|Against|Among|Around|As|At|Before|Behind|Below|Beside|Besides|Between|Beyond|By|Down|"
    r"During|Except|For|From|In|Inside|Into|Like|Of|Off|On|Out|Outside|Over|Per|Since|Through|To|Toward|Under|Until|"
    r"Up|Upon|With|Within|Without)\b"
)
SHORT_MODULE_LINES = 60


def docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text


def comment_openings(source: str) -> Iterator[str]:
    """Yield each comment's first line."""
    last_line = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            stands_alone = token.line.lstrip().startswith("#")
            if not (stands_alone and last_line == token.start[0] - 1):
                yield token.string
            if stands_alone:
                last_line = token.start[0]


def short_modules_with_one_importer(sources: dict[Path, str]) -> list[str]:
    """Return the names of short modules that one other module imports.

    An `__init__` does not count as an importer: its names are imported by others.
    """
    names = {module_name(path): path for path in sources}
    importers: defaultdict[str, set[Path]] = defaultdict(set)
    for path, source in sources.items():
        for name in imported_names(ast.parse(source)):
            if name in names and names[name] != path:
                importers[name].add(path)
    return sorted(
        name
        for name, path in names.items()
        if path.name != "__init__.py"
        and sources[path].count("\n") < SHORT_MODULE_LINES
        and len(importers[name]) == 1
        and next(iter(importers[name])).name != "__init__.py"
    )


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield dotted names; of `from a import b` both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def python_sources() -> dict[Path, str]:
    return {path: path.read_text() for path in tracked("*.py") if "migrations" not in path.parts}


def app_sources(sources: dict[Path, str]) -> dict[Path, str]:
    return {path: source for path, source in sources.items() if path.relative_to(ROOT).parts[0] in APPS}


def measures() -> dict[str, float]:
    sources = python_sources()
    of_apps = app_sources(sources)
    code, app_code = "\n".join(sources.values()), "\n".join(of_apps.values())
    docs_of = {path: list(docstrings(ast.parse(source))) for path, source in sources.items()}
    docs = [text for texts in docs_of.values() for text in texts]
    app_docs = [text for path in of_apps for text in docs_of[path]]
    test_names = re.findall(r"^ *(?:async )?def (test_\w+)", code, re.MULTILINE)
    folders = Counter(path.parent for path in sources if path.name != "__init__.py")
    return {
        "docstrings_without_verb_or_noun_percent": round(
            100 * sum(bool(RIDDLE.match(text)) for text in docs) / len(docs), 1
        ),
        "indefinite_pronouns": len(INDEFINITE.findall(code)),
        "docstring_words_per_1000_app_lines": round(
            1000 * sum(len(text.split()) for text in app_docs) / app_code.count("\n")
        ),
        "comments_that_open_with_a_preposition": sum(
            bool(PREPOSITION.match(opening)) for source in sources.values() for opening in comment_openings(source)
        ),
        "short_modules_with_one_importer": len(short_modules_with_one_importer(of_apps)),
        "names_with_most_or_fewest": len(re.findall(r"\b_?(?:MOST|FEWEST)_[A-Z]", code)),
        "lines_with_any": sum(bool(re.search(r"\bAny\b", line)) for line in app_code.splitlines()),
        "dict_str_any": app_code.count("dict[str, Any]"),
        "modules_in_the_fullest_folder": max(folders.values()),
        "longest_test_name": max(len(name) for name in test_names),
    }


def main() -> int:
    limits: dict[str, float] = tomllib.loads((ROOT / "tools/style_limits.toml").read_text())
    values = measures()
    if "--show" in sys.argv:
        print(*(f"{name} = {value}" for name, value in values.items()), sep="\n")
        print("short modules with one importer:", *short_modules_with_one_importer(app_sources(python_sources())))
    exceeded = [
        f"{name} is {values[name]}, and may be {limit} at most"
        for name, limit in limits.items()
        if values[name] > limit
    ]
    print(*exceeded, sep="\n", end="\n" if exceeded else "")
    return bool(exceeded)


if __name__ == "__main__":
    sys.exit(main())
