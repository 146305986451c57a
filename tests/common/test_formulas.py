import re

import pytest

from battles.streaming.markdown_blocks import BlockSplitter
from common.text import formulas
from common.text.markdown import render


@pytest.mark.parametrize(
    ("text", "mathml"),
    [
        ("so $x^2$ is", "<msup><mi>x</mi><mn>2</mn></msup>"),
        (r"so \(a<b\) is", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
        ("**$x$**", "<strong><math"),
        ("the $n$th and ($n$)", "</math>th and (<math"),
        (r"inline \[x\] displayed", 'display="block"'),
        ("| $x$ |\n|---|\n| $y$ |", "<td><math"),
        (r"$\text{for } x$", "<mtext>for&nbsp;</mtext>"),
        (r"$\mathbb{R}$", "<mi>ℝ</mi>"),
        (r"$\mathscr{F}\mathscr{A}$", "<mi>ℱ</mi></mrow><mrow><mi>𝒜</mi>"),
        (r"$\mathbb{1} \boldsymbol{\beta +}$", "<mn>𝟙</mn></mrow><mrow><mi>𝜷</mi>"),
        ("$$\na\n= b\n- c\n$$\nafter", "<mo>=</mo><mi>b</mi><mo>−</mo><mi>c</mi>"),
        ("> $$\n> a+b\n> $$", "<blockquote>\n<math"),
        ("1. so\n   \\[\n   a\n   \\]\n2. two", '<li>so<math display="block"'),
        (r"\[\begin{aligned}a &= b \\ c &= d\end{aligned}\]", "<mtable"),
    ],
)
def test_formulas_of_every_notation_become_mathml(text, mathml):
    assert mathml in render(text)


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $6",
        "US$5 or CA$6",
        "$5-$10",
        "$HOME:$PATH and ${HOME}",
        "$ x $",
        "`$x$`",
        "```\n$$x$$\n```",
        r"\$x\$",
        r"\[text\](https://example.com)",
        "$$",
        r"\(unclosed",
        "$$\nunclosed\n\nby a blank line $$",
    ],
)
def test_prices_variables_and_code_are_no_formulas(text):
    assert "<math" not in render(text)


def test_long_displayed_formula_takes_the_focus():
    long = " + ".join("abcdefghij")
    assert '<math display="block" alttext="' in render(f"$${long}$$")
    assert 'tabindex="0"' in render(f"$${long}$$")
    assert "tabindex" not in render(f"$$a + b$$ and ${long}$")


def test_invalid_latex_is_shown_as_source():
    assert render(r"$<b>\frac{$") == '<p><code class="formula">$&lt;b&gt;\\frac{$</code></p>\n'


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{</mtext></math><img src=x onerror=alert(1)>}",
        r"\href{javascript:alert(1)}{x}",
        r"\href{https://evil.example}{x}",
        r"\style{background:url(https://evil.example)}{x}",
        r"\class{x\" onload=\"alert(1)}{y}",
        r"\unicode{3c}script\unicode{3e}",
        r"\operatorname{</math><svg onload=alert(1)>}",
        r"\verb|<img src=x onerror=alert(1)>|",
        r"\color{red;background:url(//evil.example)}{x}",
        r"\begin{array}{c\" onclick=\"a}x\end{array}",
        r"\mbox{<style>*{display:none}</style>}",
        r"\text{&lt;script&gt;alert(1)&lt;/script&gt;}",
        '\\frac{1}{2}" onmouseover="alert(1)',
    ],
)
@pytest.mark.parametrize(("opens", "closes"), [("$", "$"), ("\\[", "\\]")])
def test_formula_adds_no_markup_links_or_styles(opens, closes, formula):
    html = re.sub(r'alttext="[^"]*"', "", render(opens + formula + closes))
    assert not re.search(r"<(?!/?(p|code|m[a-z]+)\b)", html)
    assert not re.search(r"<[^>]*(href|\bstyle=|class=\"(?!formula)|on\w+=|url\()", html)


@pytest.mark.parametrize(
    "formula",
    [
        "{" * 3_000,
        r"\frac" * 500,
        r"\def\a{xx}\def\b{\a\a}\def\c{\b\b}\c",
        r"\newcommand{\x}{\x\x}\x",
        "x" * (formulas.MAX_FORMULA_CHARACTERS + 1),
        r"\left(\frac12",
    ],
)
def test_expensive_or_invalid_formula_stays_source(formula):
    with pytest.raises(ValueError):
        formulas.to_mathml(formula, displayed=False)
    assert "<math" not in render(f"${formula}$")


def test_mathml_of_one_text_is_limited():
    html = render("$a$ " * 5_000)
    assert len(re.findall("<math.*?</math>", html)) > 1_000
    assert sum(map(len, re.findall("<math.*?</math>", html))) < formulas.MAX_TEXT_MATHML_CHARACTERS + 1_000
    assert '<code class="formula">$a$</code>' in html


def test_huge_lengths_are_removed():
    assert "width" not in render(r"$\hspace{9999em}\kern{-500em}$")
    assert 'width="1em"' in render(r"$a\quad b$")


def test_source_is_kept_in_alttext():
    assert 'alttext="a &lt; \\frac{b}{c}"' in render(r"$a < \frac{b}{c}$")


@pytest.mark.slow
def test_streamed_formula_is_shown_when_its_block_is_complete():
    answer = BlockSplitter()
    pieces = ["So\n\n$$\na\n", "= b\n$$\n", "\nand", " on\n"]
    shown = [[render(block) for block in answer.feed(piece)] for piece in pieces]
    assert shown[:2] == [["<p>So</p>\n"], []]
    assert shown[2][0].startswith('<math display="block"')
    assert answer.open == "and on\n"
