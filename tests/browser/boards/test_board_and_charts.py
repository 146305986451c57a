import json
import re
from itertools import combinations, pairwise

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.helpers.arenas import vote
from tests.browser.helpers.browser_inputs import Hand, new_context, with_zoomed_keys
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

# One call for all marks: a chart that is redrawn would move between two calls.
BOXES = "found => found.map(one => one.getBoundingClientRect().toJSON())"
CHARTS = ("intervals", "shares", "votes", "history", "prices")


def names(page: Page) -> list[str]:
    return page.locator(".standings tbody th bdi").all_inner_texts()


@with_zoomed_keys
def test_board_is_searched_sorted_and_filtered_in_place(arena: Arena, hand: Hand):
    page, rows = hand.page, hand.page.locator(".standings tbody tr")
    page.goto(f"{arena.url}/leaderboard/")
    page.evaluate("window.isTheSamePage = true")
    hand.write(page.get_by_role("searchbox"), "er")
    expect(rows).to_have_count(2)
    expect(page.locator("#announcer")).to_have_text("2 models are shown.")
    by_name = page.get_by_role("link", name="Model", exact=True)
    for order, expected in (("ascending", ["Newcomer", "Silver"]), ("descending", ["Silver", "Newcomer"])):
        hand.press(by_name)
        expect(page.locator(f"th[aria-sort={order}] a")).to_have_text("Model")
        expect(by_name).to_be_focused()  # keyboard users continue from there
        assert names(page) == expected
    assert "search=er" in page.url
    assert "sort_by=name" in page.url
    # Later filters keep the order.
    hand.write(page.get_by_role("searchbox"), "")
    expect(rows.filter(has_text="Gold")).to_be_visible()
    # Other tests of this arena may have voted on its own two models.
    assert [name for name in names(page) if " one" not in name] == ["Silver", "Newcomer", "Gold", "Bronze"]
    hand.pick(page.get_by_label("Organization"), "Aurum")
    expect(rows).to_have_count(1)
    assert names(page) == ["Gold"]
    assert page.evaluate("window.isTheSamePage") is True
    page.reload()
    assert names(page) == ["Gold"]


def test_column_explanation_shows_by_hover_focus_and_tap(arena: Arena, page: Page, browser: Browser):
    page.goto(f"{arena.url}/leaderboard/")
    score, about = page.locator("#sort-0-score"), page.locator("#about-0-score")
    expect(about).to_be_hidden()
    for key in ("Escape", "Shift"):
        score.hover()
        expect(about).to_be_visible()
        page.keyboard.press(key)
        expect(about).to_be_visible(visible=key != "Escape")
        page.get_by_role("heading", name="Leaderboard").hover()
        expect(about).to_be_hidden()
    page.locator("#sort-0-name").focus()
    page.keyboard.press("Tab")
    expect(score).to_be_focused()
    expect(about).to_be_visible()
    box = about.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    expect(score).to_have_accessible_description(re.compile("preferred in 64 of 100"))
    page.keyboard.press("Escape")
    expect(about).to_be_hidden()
    expect(score).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(about).to_be_visible()

    context = new_context(browser, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    phone = context.new_page()
    phone.goto(f"{arena.url}/leaderboard/")
    phone.locator("[data-column=score] .explain").tap()
    expect(phone.locator("#about-0-score")).to_be_visible()
    expect(phone.locator("#about-0-name")).to_be_hidden()
    assert phone.url.endswith("/leaderboard/")
    context.close()


def test_chosen_board_is_swapped_in_and_links_to_its_charts(arena: Arena, page: Page):
    page.goto(f"{arena.url}/leaderboard/")
    page.locator("select[name=board]").select_option("language:und")
    expect(page.locator("#board h2").first).to_contain_text("Undetermined language")
    expect(page).to_have_title("Undetermined language · Leaderboard · Arena")
    page.get_by_role("link", name="Charts").click()
    page.wait_for_url("**/leaderboard/charts/?board=language%3Aund")
    expect(page.locator("[data-chart=intervals] svg.main-svg").first).to_be_visible()


def test_open_board_updates_itself_and_announces_it(arena: Arena, page: Page):
    with page.expect_response(lambda response: "/leaderboard/stream/" in response.url):
        page.goto(f"{arena.url}/leaderboard/?sort_by=name&order=asc")
    before = page.locator("#board").get_attribute("data-snapshot")
    vote(arena)
    expect(page.locator("#notices")).to_contain_text("A new snapshot was published")
    assert page.locator("#board").get_attribute("data-snapshot") != before
    assert names(page)[0] == "Bronze"
    assert page.url.endswith("?sort_by=name&order=asc")


@pytest.mark.parametrize("width", [1280, 360])
def test_charts_are_drawn_under_csp_and_have_tables(arena: Arena, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{arena.url}/leaderboard/charts/")
    for chart in CHARTS:
        expect(page.locator(f"[data-chart={chart}] svg.main-svg").first).to_be_visible()
    assert page.locator("figure details").count() == len(CHARTS)
    page.locator("#intervals summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#intervals tbody tr")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_short_history_shows_points(arena: Arena, page: Page):
    page.goto(f"{arena.url}/leaderboard/models/gold/")
    expect(page.locator("[data-chart=history] .scatterlayer .point").first).to_be_visible()


def many_models(page: Page) -> None:
    """Charts of more models than fit on a phone."""
    names = [f"Model of house {number}" for number in range(24)]
    rows = [
        {"id": name, "name": name, "cells": [{"id": other, "share": 0.5, "votes": 7} for other in names]}
        for name in names
    ]
    prices = [
        {
            "name": name,
            "price": str(1 + number / 50),
            "score": 1500 - 9 * (7 * number % 24),
            "best_for_its_price": not number,
        }
        for number, name in enumerate(names)
    ]

    def add_models(route: Route) -> None:
        answer = route.fetch()
        text = answer.text()
        for key, value in (("matrix", {"rows": rows}), ("prices", prices)):
            before, rest = text.split(f'id="data-{key}"')
            text = f'{before}id="data-{key}" type="application/json">{json.dumps(value)}</{rest.partition("</")[2]}'
        route.fulfill(response=answer, body=text)

    page.route("**/leaderboard/charts/", add_models)


@pytest.mark.parametrize("width", [1280, 360])
def test_chart_labels_of_many_models_do_not_overlap(arena: Arena, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 800})
    many_models(page)
    page.goto(f"{arena.url}/leaderboard/charts/")
    names = page.locator("[data-chart=prices] .textpoint text")
    expect(names.filter(has_text="house").first).to_be_visible()
    boxes = [box for box in names.evaluate_all(BOXES) if box["width"]]
    assert not [
        (one, other)
        for one, other in combinations(boxes, 2)
        if one["x"] < other["x"] + other["width"] - 2
        and other["x"] < one["x"] + one["width"] - 2
        and one["y"] < other["y"] + other["height"] - 3
        and other["y"] < one["y"] + one["height"] - 3
    ]
    columns = page.locator("[data-chart=shares] .xtick text")
    places = sorted(column["x"] for column in columns.evaluate_all(BOXES))
    assert min(right - left for left, right in pairwise(places)) > 12
    fewer = page.locator("#win-fractions [data-fewer]")
    assert fewer.is_visible() == (width == 360)


def test_drawn_charts_keep_styles_follow_theme_and_link(arena: Arena, page: Page):
    page.emulate_media(color_scheme="light")
    page.goto(f"{arena.url}/leaderboard/charts/")
    ticks = page.locator("[data-chart=history] .xtick text")
    expect(ticks.first).to_be_visible()
    assert not [label for label in ticks.all_text_contents() if label.count(":") > 1]  # no milliseconds
    # Plotly has classes of the same names: our styles once outlined the numbers at its bars.
    expect(page.locator("[data-chart=intervals] svg.main-svg").first).to_be_visible()
    stroke = page.locator("[data-chart=intervals] svg.main-svg").first.evaluate(
        """svg => {
          const mark = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "g"));
          mark.setAttribute("class", "point");
          return getComputedStyle(mark).stroke;
        }"""
    )
    assert stroke == "none"

    text = page.locator("[data-chart=intervals] .xtick text").first
    light = text.evaluate("element => getComputedStyle(element).fill")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "light => getComputedStyle(document.querySelector('[data-chart=intervals] .xtick text')).fill !== light",
        arg=light,
    )

    page.wait_for_function("document.querySelector('[data-chart=shares]')._ev?.listenerCount('plotly_click')")
    box = page.locator("[data-chart=shares] .nsewdrag").first.bounding_box()
    assert box is not None
    # The second column of the first row.
    page.mouse.click(box["x"] + box["width"] * 3 / 8, box["y"] + box["height"] / 8)
    page.wait_for_url("**/leaderboard/compare/**")


def test_phone_board_keeps_names_while_scrolling(arena: Arena, page: Page):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{arena.url}/leaderboard/")
    frame = page.locator(".table-frame").first
    top, end = frame.evaluate("frame => [frame.getBoundingClientRect().top, frame.getBoundingClientRect().right]")
    assert top < 500
    # Name, score and interval are visible without scrolling.
    interval = page.locator(".interval svg").first.bounding_box()
    assert interval is not None
    assert interval["x"] + interval["width"] <= end
    frame.evaluate("frame => frame.scrollLeft = frame.scrollWidth")
    name, board = page.locator(".standings tbody th bdi").first.bounding_box(), frame.bounding_box()
    assert name is not None
    assert board is not None
    assert name["x"] >= board["x"]


def test_pair_bar_lengths_equal_votes(arena: Arena, page: Page):
    page.goto(f"{arena.url}/leaderboard/compare/gold/silver/")
    won, ties, both_bad, lost = map(int, page.locator(".figures dd").all_inner_texts())
    widths = page.locator(".outcomes rect").evaluate_all("bars => bars.map(bar => bar.width.baseVal.value)")
    assert widths == [won + ties + both_bad + lost, won + ties + both_bad, won]


def test_no_javascript_board_is_filtered_and_charts_are_tables(arena: Arena, browser: Browser):
    context = new_context(browser, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{arena.url}/leaderboard/")
    page.get_by_role("searchbox").fill("silver")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".standings tbody th bdi")).to_have_text(["Silver"])
    page.goto(f"{arena.url}/leaderboard/charts/")
    assert not page.locator(".plot").first.is_visible()
    page.locator("#win-fractions summary").click()
    expect(page.locator("#win-fractions tbody tr")).to_have_count(4)
    page.goto(f"{arena.url}/leaderboard/compare/")
    page.locator("#picker-first").get_by_label("Gold").check()
    page.locator("#picker-second").get_by_label("Bronze").check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/leaderboard/compare/gold/bronze/")
    context.close()
