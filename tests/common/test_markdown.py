import re

import pytest

from common.text.highlighting import LEXERS, MAX_BLOCK_CHARACTERS, MAX_TEXT_HTML_CHARACTERS
from common.text.markdown import MAX_HTML_CHARACTERS, TIP, insert_at_tip, render


@pytest.mark.parametrize(
    "address",
    [
        "//evil.example",
        "/accounts/logout/",
        "accounts/logout/",
        "#top",
        "?page=2",
        "https:accounts/logout/",  # browsers read it as a path of the page's own site
        "https:/accounts/logout/",
        "\\\\evil.example",
        "&#47;&#47;evil.example",
        "ftp://evil.example",
        "tel:112",
    ],
)
def test_link_without_web_scheme_keeps_only_its_text(address: str):
    assert render(f"go [**here** now]({address}) on") == "<p>go <strong>here</strong> now on</p>\n"
    assert render(f"go [here][1] on\n\n[1]: {address}") == "<p>go here on</p>\n"


@pytest.mark.parametrize("address", ["https://a.example/x", "HTTP://a.example", "mailto:a@b.example"])
def test_absolute_link_is_kept(address: str):
    link = f'<a href="{address}" rel="noopener noreferrer nofollow">x</a>'
    assert render(f"[x]({address})") == f"<p>{link}</p>\n"


@pytest.mark.slow
def test_html_longer_than_its_limit_becomes_plain_text():
    columns = 3_000
    table = "|" + "a|" * columns + "\n|" + "-|" * columns + "\n" + "|b|\n" * 40 + "\n<b>"
    html = render(table)
    assert html.startswith('<pre class="plain" tabindex="0">|a|a|')
    assert html.endswith("&lt;b&gt;</pre>")
    assert len(html) < MAX_HTML_CHARACTERS


def test_wide_table_within_the_limit_stays_a_table():
    assert render("|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + "|b|\n" * 10).count("<td>") == 1_000


@pytest.mark.parametrize(
    ("code", "spans"),
    [
        ("x = 1\n", True),
        ("x = 1\n" * (MAX_BLOCK_CHARACTERS // 6 + 1), False),
    ],
)
def test_only_short_code_blocks_are_highlighted(code: str, spans: bool):
    html = render(f"```python\n{code}```")
    assert ('<span class="mi">1</span>' in html) == spans
    assert re.sub(r"<[^>]*>", "", html).strip() == f"python{code}".strip()


def test_code_beyond_the_limit_of_a_text_is_not_highlighted():
    block = "```js\n" + "x = 1;\n" * 250 + "```\n\n"
    of_one, html = len(render(block)), render(block * 20)
    assert html.count("<pre") == 20
    assert 'class="nx"' in html
    assert len(html) < MAX_TEXT_HTML_CHARACTERS + of_one + 20 * len(block) * 2


def test_language_without_a_fast_lexer_keeps_its_label():
    head = '<div class="code-head">fortran</div><pre tabindex="0"><code>integer x\n</code></pre>'
    assert head in render("```fortran\ninteger x\n```")
    assert '<div class="code-head"></div>' in render("```no-language\nx\n```")


@pytest.mark.parametrize("language", LEXERS)
def test_growing_code_goes_on_inside_its_block(language: str):
    html = insert_at_tip(render(f"```{language}\n{TIP}"), "<b>")
    assert html is not None
    assert '<code><span class="tip">&lt;b&gt;</span>' in html


def test_text_without_a_tip_has_no_place_for_more():
    assert insert_at_tip(render("[a]: https://a.example"), "b") is None
