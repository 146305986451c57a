import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.arenas import ask
from tests.browser.helpers.browser_inputs import PATIENCE_MS
from tests.browser.helpers.pictures import look
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

A_MINUTE_MS = max(60_000, PATIENCE_MS)


def test_first_vote_is_on_the_board_within_a_minute(fresh_arena: Arena, page: Page):
    board = page.context.new_page()
    with board.expect_response(lambda response: "/leaderboard/stream/" in response.url):
        board.goto(f"{fresh_arena.url}/leaderboard/")
    votes = board.locator(".collecting [data-live=votes]")
    expect(votes).to_have_text(["0", "0"])
    expect(board.locator("#board")).to_contain_text("Next run: within a minute of the first vote")
    look(board, "first-vote-1-empty")
    ask(page, fresh_arena, "one two three")
    page.get_by_role("button", name="A is better").click()
    page.locator(".reveal").wait_for()
    # The open board moves without a reload between snapshots.
    expect(votes).to_have_text(["1", "1"])
    elo = board.locator(".collecting [data-live=elo]")
    assert sorted(elo.all_inner_texts()) == ["1484", "1516"]
    look(board, "first-vote-2-live")
    expect(board.locator("#board:not([data-snapshot=''])")).to_be_visible(timeout=A_MINUTE_MS)
    expect(board.locator("#board")).to_contain_text("1 counted vote")
    expect(votes).to_have_text(["1", "1"])
    look(board, "first-vote-3-counted")
    page.locator(".reveal h3 a").first.click()
    page.wait_for_url("**/leaderboard/models/*-one/")
    expect(page.locator(".figures").first).to_contain_text("Live Elo")
    look(page, "first-vote-4-model")
