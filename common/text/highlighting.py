from functools import cache
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer, RegexLexer
from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.lexers.c_cpp import CFamilyLexer

# Longer code blocks are shown without colours, and so are those after MAX_TEXT_HTML_CHARACTERS in one text.
MAX_BLOCK_CHARACTERS = 2_000
MAX_TEXT_HTML_CHARACTERS = 128_000

# Pygments lexer: names in code fences. Other lexers need quadratic time or more on some inputs.
LEXERS = {
    "bash": ("bash", "sh", "shell", "zsh"),
    "c": ("c", "h"),
    "clojure": ("clojure", "clj"),
    "cpp": ("cpp", "c++", "cc", "cxx", "hpp"),
    "csharp": ("csharp", "c#", "cs"),
    "css": ("css",),
    "dart": ("dart",),
    "diff": ("diff", "patch"),
    "docker": ("dockerfile", "docker"),
    "elixir": ("elixir", "ex", "exs"),
    "go": ("go", "golang"),
    "haskell": ("haskell", "hs"),
    "html": ("html",),
    "java": ("java",),
    "javascript": ("javascript", "js", "node"),
    "json": ("json", "jsonc", "json5"),
    "jsx": ("jsx",),
    "julia": ("julia", "jl"),
    "kotlin": ("kotlin", "kt"),
    "latex": ("latex", "tex"),
    "lua": ("lua",),
    "php": ("php",),
    "powershell": ("powershell", "ps1", "pwsh"),
    "python": ("python", "py", "python3", "py3"),
    "r": ("r",),
    "ruby": ("ruby", "rb"),
    "rust": ("rust", "rs"),
    "scala": ("scala",),
    "scss": ("scss", "sass"),
    "sql": ("sql", "mysql", "postgresql", "postgres", "sqlite"),
    "swift": ("swift",),
    "toml": ("toml",),
    "tsx": ("tsx",),
    "typescript": ("typescript", "ts"),
    "xml": ("xml", "svg"),
    "yaml": ("yaml", "yml"),
}
_LEXER_OF = {name: lexer for lexer, names in LEXERS.items() for name in names}

# Parts of patterns that scan ahead without limit from every position, mapped to limited ones. They occur in the lexers
# for C, C++, C#, HTML, Java, Python, TypeScript, XML and YAML.
_LIMITED = {
    CFamilyLexer._ws1: r"[ \t]*",
    r"^(\s*)": r"^([ \t]*)",
    r"(^\s*)": r"(^[ \t]*)",
    r"^\s*#": r"^[ \t]*#",
    r"\s+)+?)": r"\s{1,80}){1,6}?)",
    r"([\w?.$]+)(\s*)(:)": r"([\w?.$]{1,80})(\s{0,80})(:)",
    r'\$*"{3,}': r'\${0,8}"{3,}',
    r"&\S*?;": r"&[\w#]{1,32};",
    r"""([^#,?\[\]{}"'\n]+)(:)""": r"""([^#,?\[\]{}"'\n]{1,200})(:)""",
}
_FORMATTER = HtmlFormatter[str](nowrap=True)


def highlight_code(code: str, language: str) -> str | None:
    """Return HTML with a span per token; None for a language that is not in LEXERS, or too much code."""
    if len(code) > MAX_BLOCK_CHARACTERS or language not in _LEXER_OF:
        return None
    return highlight(code, lexer(_LEXER_OF[language]), _FORMATTER)


def is_known(language: str) -> bool:
    """Return whether Pygments has this lexer, also one that is not in LEXERS."""
    return language in _LEXER_OF or language in _pygments_names()


@cache
def _pygments_names() -> frozenset[str]:
    return frozenset(name.lower() for _, names, _, _ in get_all_lexers(plugins=False) for name in names)


@cache
def lexer(name: str) -> Lexer:
    lexer_class: Any = type(get_lexer_by_name(name))
    if issubclass(lexer_class, RegexLexer):
        lexer_class = type(f"Limited{lexer_class.__name__}", (lexer_class,), {"tokens": _limited(_tokens(lexer_class))})
    limited: Lexer = lexer_class(stripnl=False)
    return limited


def _tokens(lexer_class: Any) -> Any:
    return lexer_class.tokens if getattr(lexer_class, "token_variants", False) else lexer_class.get_tokendefs()


def _limited(rules: Any) -> Any:
    """Return the lexer's states with limited patterns; rules begin with a regular expression."""
    if isinstance(rules, dict):
        return {state: _limited(inside) for state, inside in rules.items()}
    if isinstance(rules, list):
        return [_limited(rule) for rule in rules]
    if type(rules) is tuple and isinstance(rules[0], str):
        pattern = rules[0]
        for unlimited, limited in _LIMITED.items():
            pattern = pattern.replace(unlimited, limited)
        return (pattern, *rules[1:])
    return rules
