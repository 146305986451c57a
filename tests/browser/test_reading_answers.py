"""Formulas, code and tables in answers are rendered, copied, and widen no page."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.arenas import ask, rename_session
from tests.fake_provider import PAUSE, FakeProvider
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

ANSWER = (
    """The sum $\\sum_{i=1}^n i$ for $5 and $6:

$$
\\frac{n(n+1)}{2}
$$

```python
print("a line that is much longer than the pane in which it is shown, and longer than any phone is wide")
```

| A long heading of a column | Another long heading | One more of them | And the last one of all |
|---|---|---|---|
| incomprehensibilities | incomprehensibilities | incomprehensibilities | 4 |

هذا نص عربي.

"""
    + "averyveryvery" * 30
)


# Text that arrives before the pane's scroll event.
APPEND_TEXT_ON_CLICK = """pane => document.addEventListener("click", () => {
  pane.appendChild(document.createElement("p")).style.height = "500px";
  pane.dispatchEvent(new CustomEvent("htmx:sseMessage", { bubbles: true, detail: {} }));
}, { once: true })"""


def test_answers_are_shown_while_streaming(arena: Arena, fake_provider: FakeProvider, page: Page):
    page.goto(arena.url)
    page.locator("#prompt").fill(f"one two {PAUSE} three")
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    answers, vote = page.locator(".answer"), page.get_by_role("button", name="A is better")
    expect(answers).to_have_text(["one two", "one two"], use_inner_text=True)
    expect(vote).to_have_count(0)
    fake_provider.go_on()
    expect(answers).to_have_text([f"one two {PAUSE} three"] * 2, use_inner_text=True)
    expect(vote).to_be_visible()


def test_growing_markdown_is_formed(arena: Arena, fake_provider: FakeProvider, page: Page):
    page.goto(arena.url)
    page.locator("#prompt").fill(f"- **one**\n- two\n\n```python\nx = {PAUSE} 1\n```\n\nAnd that is all.")
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    expect(page.locator(".answer li")).to_have_text(["one", "two"] * 2)
    expect(page.locator(".answer pre code")).to_have_text(["x ="] * 2)
    fake_provider.go_on()
    expect(page.locator(".answer pre .mi")).to_have_count(2)


@pytest.mark.parametrize("width", [1280, 360, 320])
def test_wide_answer_does_not_widen_page(arena: Arena, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 740})
    ask(page, arena, ANSWER)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table = page.locator(".answer .wide").first
    assert table.evaluate("frame => frame.scrollWidth > frame.clientWidth && frame.tabIndex === 0")
    assert page.locator(".answer").first.evaluate("answer => answer.scrollWidth <= answer.clientWidth")


@pytest.mark.parametrize("width", [1280, 718])
def test_answers_are_printed_whole_and_dark_on_light(arena: Arena, page: Page, width: int):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": width, "height": 740})
    ask(page, arena, "One more paragraph.\n\n" * 60)
    page.emulate_media(color_scheme="dark", media="print")
    answers = page.locator(".answer")
    assert answers.evaluate_all("found => found.every(one => one.scrollHeight <= one.clientHeight)")
    left, right = [answer.bounding_box() for answer in answers.all()]
    assert left is not None
    assert right is not None
    assert right["width"] > 300
    assert left["x"] + left["width"] <= right["x"]
    assert right["x"] + right["width"] <= width
    assert answers.first.evaluate("answer => getComputedStyle(answer).color") == "rgb(28, 35, 32)"
    assert not page.locator(".vote, .composer, .sidebar").filter(visible=True).count()


@pytest.mark.parametrize("width", [1280, 390])
def test_rtl_title_does_not_overlap_menu(arena: Arena, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 740})
    ask(page, arena, "one two three")
    rename_session(page, "ما هي عاصمة فرنسا؟")
    title, menu = page.locator("#session-title").bounding_box(), page.locator(".session-tools summary").bounding_box()
    assert title is not None
    assert menu is not None
    assert title["x"] + title["width"] <= menu["x"]


def test_formulas_are_mathml_and_arabic_is_rtl(arena: Arena, page: Page):
    ask(page, arena, ANSWER)
    formula = page.locator(".answer math[display=block]").first
    assert formula.evaluate("math => math.namespaceURI") == "http://www.w3.org/1998/Math/MathML"
    fraction = formula.locator("mfrac").bounding_box()
    assert fraction is not None
    assert fraction["height"] > 24  # numerator above denominator
    arabic = page.locator(".answer p", has_text="عربي").first
    assert arabic.evaluate("p => getComputedStyle(p).unicodeBidi") == "plaintext"


def test_font_is_loaded_for_formulas_and_brackets_grow(arena: Arena, page: Page):
    statuses = "[...document.fonts].map(font => font.status)"
    ask(page, arena, "one two three")
    assert page.evaluate(statuses) == ["unloaded", "unloaded"]
    ask(page, arena, r"$$\left(\frac{\frac{a}{b}}{\frac{c}{d}}\right) = (x)$$")
    page.wait_for_function(f"{statuses}.includes('loaded')")
    assert page.evaluate(statuses) == ["loaded", "unloaded"]
    heights = "elements => elements.slice(0, 4).map(element => element.getBoundingClientRect().height)"
    tall, _, _, low = page.locator(".answer").first.locator("mo").evaluate_all(heights)
    (fraction, *_) = page.locator(".answer").first.locator("mfrac").evaluate_all(heights)
    assert tall >= 0.9 * fraction > 2 * low


@pytest.mark.parametrize("width", [1280, 390])
def test_copy_button_is_beside_answer_facts(arena: Arena, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 740})
    ask(page, arena, "one two three " * 70)
    page.get_by_role("button", name="Tie").click()
    page.locator("#prompt").fill("one two three " * 70)
    page.get_by_role("button", name="Follow up with both").click()
    facts = page.locator(".facts").last
    expect(facts).to_contain_text("done after")
    copy, first = facts.locator(".copy").bounding_box(), facts.locator("span").first.bounding_box()
    assert copy is not None
    assert first is not None
    assert copy["y"] <= first["y"] + first["height"] / 2 <= copy["y"] + copy["height"]


def test_copied_code_and_answer_equal_source(arena: Arena, page: Page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, arena, ANSWER)
    page.get_by_role("button", name="Copy this code").first.click()
    expect(page.locator("#announcer")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()").startswith('print("a line')
    page.locator("#announcer").evaluate("line => line.textContent = ''")
    page.get_by_role("button", name="Copy answer A").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#announcer")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()").strip() == ANSWER.strip()


def test_scrolled_up_reader_stays_and_can_jump_to_latest(arena: Arena, fake_provider: FakeProvider, page: Page):
    page.goto(arena.url)
    page.locator("#prompt").fill("\n\n".join(f"part-{number}" + " a" * 12 for number in range(500)) + f" {PAUSE}")
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    pane, latest = page.locator(".answer").first, page.locator(".latest").first
    pane.get_by_text("part-40 a").wait_for()
    expect(latest).to_be_hidden()
    for _ in range(20):  # repeat like a wheel: a piece that arrives before the scroll event scrolls back once more
        pane.evaluate("pane => pane.scrollTop = 10")
        page.wait_for_timeout(200)
        if latest.is_visible():
            break
    expect(latest).to_be_visible()
    page.wait_for_timeout(500)
    assert pane.evaluate("pane => pane.scrollTop") == 10
    pane.evaluate(APPEND_TEXT_ON_CLICK)
    latest.click()
    expect(latest).to_be_hidden()
    assert pane.evaluate("pane => pane.scrollHeight - pane.scrollTop - pane.clientHeight") < 60
    fake_provider.go_on()
    page.locator(".vote").wait_for()
    scrolled, followed = page.locator(".answer").evaluate_all("panes => panes.map(pane => pane.scrollTop)")
    assert (scrolled > 100, followed) == (True, 0)


def test_refused_follow_up_keeps_scroll_position(arena: Arena, page: Page):
    ask(page, arena, "One more paragraph.\n\n" * 60)
    left = page.locator(".pane .answer").first
    left.evaluate("answer => answer.scrollTop = 100")
    page.locator("#prompt").fill("x" * 20_001)
    page.get_by_role("button", name="Follow up with both").click()
    expect(page.get_by_text("Your prompt has 20,001 characters")).to_be_visible()
    assert left.evaluate("answer => answer.scrollTop") == 100
