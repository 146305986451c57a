import string
import time

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter

from common.text.highlighting import LEXERS, highlight_code, lexer

CHARACTERS = [*string.punctuation, *"\n\t\r aA0é漢", "a ", " \n", "a\n"]
SHORT, LONG = 500, 2_000
# Less time at the full length is harmless, and too short for a comparison.
HARMLESS_S = 0.03
# Four times the length costs 4 times as much in linear time, and 16 times as much in quadratic time.
MAX_RATIO = 10


def cpu_s(name: str, characters: str, length: int) -> float:
    code, formatter, used = (characters * length)[:length], HtmlFormatter[str](nowrap=True), lexer(name)
    began = time.thread_time()
    highlight(code, used, formatter)
    return time.thread_time() - began


@pytest.mark.slow
@pytest.mark.parametrize("name", LEXERS)
def test_lexer_takes_linear_time_on_repeated_characters(name: str):
    cpu_s(name, "a", 10)  # compiles the patterns
    suspicious = [characters for characters in CHARACTERS if cpu_s(name, characters, LONG) > HARMLESS_S]
    assert [characters for characters in suspicious if grows_faster_than_linear(name, characters)] == []


def grows_faster_than_linear(name: str, characters: str) -> bool:
    """Return whether all of several comparisons exceed MAX_RATIO: a busy machine distorts some."""
    return all(
        cpu_s(name, characters, LONG) > MAX_RATIO * min(cpu_s(name, characters, SHORT) for _ in range(2))
        for _ in range(5)
    )


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("c", "#include <stdio.h>\n\nint main(void) { return 0; } // x", ("cp", "cpf", "kt", "nf", "k", "mi", "c1")),
        ("c++", "class A : public B { };", ("k", "nc", "n")),
        ("java", "public class A { int size() { return 1; } }", ("kd", "nc", "kt", "nf", "k", "mi")),
        ("c#", "class A {\n  int Size() { return 1; }\n}", ("k", "nc", "kt", "nf", "mi")),
        ("ts", "const x: string = 'a';", ("kd", "kt", "s1")),
        ("html", "<p class='a'>&amp;</p>", ("p", "nt", "na", "s", "ni")),
        ("yaml", "key: 1\nlist:\n  - a", ("nt", "p")),
        ("py", "def f():\n    return 'x'", ("k", "nf", "s1")),
    ],
)
def test_limited_lexers_still_colour_code(language: str, code: str, expected: tuple[str, ...]):
    html = highlight_code(code, language)
    assert html is not None
    assert [name for name in expected if f'class="{name}"' not in html] == []


def test_language_outside_the_list_is_not_highlighted():
    assert highlight_code("x", "aspectj") is None
