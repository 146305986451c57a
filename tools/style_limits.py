"""Check the code's wording and shape against tools/style_limits.toml.

The limits only go down: lower them in the change that makes it possible (CONTRIBUTING.md, "Words").
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
APPS = (
    "accounts",
    "arena_site",
    "battles",
    "benchmarks",
    "routing",
    "gateway",
    "common",
    "leaderboard",
    "models_registry",
    "site_content",
    "uploads",
)
RIDDLE = re.compile(
    r"(What|Who|Whom|Whose|Whoever|Whatever|Whether|Where|Wherever|When|How|Which|As|At|Behind|Beside|By|Down|For|From|In|"
    r"Inside|Into|Of|On|Out|Over|Through|To|Under|Until|Up|With|Within|Without)\b"
)
INDEFINITE = re.compile(r"\b(somebody|nobody|whoever|whatever)", re.IGNORECASE)


def docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def measures() -> dict[str, float]:
    paths = [path for path in tracked("*.py") if "migrations" not in path.parts]
    sources = {path: path.read_text() for path in paths}
    code = "\n".join(sources.values())
    app_code = "\n".join(source for path, source in sources.items() if path.relative_to(ROOT).parts[0] in APPS)
    docs_of = {path: list(docstrings(ast.parse(source))) for path, source in sources.items()}
    docs = [text for texts in docs_of.values() for text in texts]
    app_docs = [text for path, texts in docs_of.items() if path.relative_to(ROOT).parts[0] in APPS for text in texts]
    test_names = re.findall(r"^ *(?:async )?def (test_\w+)", code, re.MULTILINE)
    folders = Counter(path.parent for path in paths if path.name != "__init__.py")
    return {
        "docstrings_without_verb_or_noun_percent": round(
            100 * sum(bool(RIDDLE.match(text)) for text in docs) / len(docs), 1
        ),
        "indefinite_pronouns": len(INDEFINITE.findall(code)),
        "docstring_words_per_1000_app_lines": round(
            1000 * sum(len(text.split()) for text in app_docs) / app_code.count("\n")
        ),
        "names_with_most_or_fewest": len(re.findall(r"\b_?(?:MOST|FEWEST)_[A-Z]", code)),
        "lines_with_any": sum(bool(re.search(r"\bAny\b", line)) for line in app_code.splitlines()),
        "dict_str_any": app_code.count("dict[str, Any]"),
        "modules_in_the_fullest_folder": max(folders.values()),
        "longest_test_name": max(len(name) for name in test_names),
    }


def main() -> int:
    limits: dict[str, float] = tomllib.loads((ROOT / "tools/style_limits.toml").read_text())
    found = measures()
    if "--show" in sys.argv:
        print("\n".join(f"{name} = {value}" for name, value in found.items()))
    exceeded = [
        f"{name} is {found[name]}, and may be {limit} at most" for name, limit in limits.items() if found[name] > limit
    ]
    print(*exceeded, sep="\n", end="\n" if exceeded else "")
    return bool(exceeded)


if __name__ == "__main__":
    sys.exit(main())
