"""Actions in the browser before a picture is taken."""

from playwright.sync_api import Page

TIMEOUT_MS = 180_000  # for the local model on a busy machine
PROMPT = "Explain to a ten-year-old why the moon changes its shape."
SUBMIT_WITHOUT_SCRIPTS = "document.getElementById('composer').submit()"

BOTH_ARE_WRITING = """[...document.querySelectorAll(".answer")].every(
  (answer) => [...answer.querySelectorAll("[id$=-done], [id$=-open]")].some((part) => part.innerText.length > 40))"""


def narrow(page: Page) -> None:
    page.locator("details.narrowing summary").click()


def ask(page: Page) -> None:
    page.locator("#prompt").fill(PROMPT)
    page.get_by_role("button", name="Start the battle").click()
    page.wait_for_url("**/s/**")
    # The page's CSP forbids the eval in Playwright's wait_for_function.
    for _ in range(TIMEOUT_MS // 200):
        if page.evaluate(BOTH_ARE_WRITING):
            return
        page.wait_for_timeout(200)


def ask_and_stop(page: Page) -> None:
    ask(page)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Tie").wait_for(timeout=TIMEOUT_MS)


def ask_and_vote(page: Page) -> None:
    ask(page)
    page.get_by_role("button", name="Tie").click(timeout=TIMEOUT_MS)
    page.locator(".reveal").wait_for()


def ask_too_much(page: Page) -> None:
    page.locator("#prompt").fill("I would like to know " + "very " * 4000 + "much.")
    page.get_by_role("button", name="Start the battle").click()


def ask_too_often(page: Page) -> None:
    for _ in range(2):
        page.goto("/")
        send_plainly(page)


def send_plainly(page: Page) -> None:
    page.locator("#prompt").fill(PROMPT)
    with page.expect_navigation():
        page.evaluate(SUBMIT_WITHOUT_SCRIPTS)


def send_without_token(page: Page) -> None:
    page.evaluate("document.querySelector('#composer [name=csrfmiddlewaretoken]').remove()")
    send_plainly(page)


def send_too_much(page: Page) -> None:
    page.evaluate("document.querySelector('#composer [name=mode]').value = 'very much '.repeat(150_000)")
    page.locator("#prompt").fill(PROMPT)
    with page.expect_navigation():
        page.evaluate(SUBMIT_WITHOUT_SCRIPTS)


def open_sidebar(page: Page) -> None:
    """Open the sidebar on narrow screens, where it is closed."""
    opener = page.locator("[popovertarget=sessions]").first
    if opener.is_visible():
        opener.click()


def open_places(page: Page) -> None:
    page.locator("[popovertarget=places]").click()


def edit_session(page: Page) -> None:
    open_sidebar(page)
    page.locator("#sessions .session-row [role=button]").first.click()
    page.locator("#sessions").get_by_role("textbox", name="Title").wait_for()


def open_report(page: Page) -> None:
    page.locator("details.reporting summary").first.click()


def open_feedback(page: Page) -> None:
    page.locator("details.feedback summary").first.click()


def attach(page: Page) -> None:
    page.set_input_files("[data-attach]", [
        {"name": "minutes.txt", "mimeType": "text/plain", "buffer": b"We meet again on Tuesday."},
        {"name": "program.exe", "mimeType": "application/octet-stream", "buffer": b"MZ\x90\x00"},
    ])  # fmt: skip
    page.locator('.chip[data-state="ready"]').wait_for()
    page.wait_for_timeout(1000)


def sign_in_wrongly(page: Page) -> None:
    _sign_in(page, "mara@example.org", "not-the-password")


def sign_in_guarded(page: Page) -> None:
    _sign_in(page, "noor@example.org", "a-good-password-1")


def _sign_in(page: Page, email: str, password: str) -> None:
    page.locator("[name=login]").fill(email)
    page.locator("[name=password]").fill(password)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def make_token(page: Page) -> None:
    page.locator("main [name=name]").fill("laptop")
    page.locator("main [name=scopes]").first.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Make a token").click()


def decide_cases(page: Page) -> None:
    _choose(page, "hide")


def exclude_votes(page: Page) -> None:
    _choose(page, "exclude")


def _choose(page: Page, word: str) -> None:
    """Run the administration's action whose name contains `word` on the first three rows."""
    for row in range(3):
        page.locator("#result_list .action-select").nth(row).check()
    actions = page.locator("select[name=action]").first
    value = actions.locator("option").evaluate_all(
        "(options, word) => options.map((each) => each.value).find((value) => value.includes(word))", word
    )
    actions.select_option(value)
    with page.expect_navigation():
        page.locator("button[name=index]").first.click()


def test_model(page: Page) -> None:
    with page.expect_navigation():
        page.locator("#content form [type=submit]").first.click()
    page.get_by_text("The model answered").wait_for(timeout=TIMEOUT_MS)


def test_models(page: Page) -> None:
    with page.expect_navigation():
        page.locator("#content form [type=submit]").first.click()
    page.locator("#model-tests:not(:has-text('under way'))").wait_for(timeout=TIMEOUT_MS)


def begin_review(page: Page) -> None:
    page.locator("[data-next-answers]").click()
    page.locator(".vote").wait_for()


def vote_in_review(page: Page) -> None:
    begin_review(page)
    page.locator(".vote button").first.click()
    page.locator(".reveal").wait_for()


def judge(page: Page) -> None:
    """Vote on a second opinion, and look at how others voted."""
    vote_in_review(page)
    page.locator(".reveal [data-next-answers]").click()
    page.locator(".entrant-bars").wait_for()


def join_wrongly(page: Page) -> None:
    with page.expect_navigation():
        page.locator("main [type=submit]").click()
