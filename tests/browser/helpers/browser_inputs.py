"""Three ways to operate a page: mouse, touch, and keys alone."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.helpers.axe import PHONE, WIDE

# Long enough for a busy machine.
PATIENCE_MS = 120_000
MAX_TABS = 150
# Name: (screen, has touch, by keys). Keys on a phone's screen stand for a desktop at 400 % zoom.
HANDS = {
    "mouse": (WIDE, False, False), "finger": (PHONE, True, False), "keys": (WIDE, False, True),
    "keys-zoomed": (PHONE, False, True),
}  # fmt: skip
# How many elements after the one with the focus; null if it is no longer on the page.
TABS_AHEAD = """(one) => {
  if (!one.isConnected) return null;
  if (one === document.activeElement) return 0;
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
    .filter((each) => each === one || each === document.activeElement
      || (each.tabIndex >= 0 && !each.disabled && each.checkVisibility()));
  const steps = all.indexOf(one) - all.indexOf(document.activeElement);
  return steps > 0 ? steps : steps + all.length;
}"""


@dataclass
class Hand:
    """Operates a page by mouse, by touch, or `by_keys` alone."""

    page: Page
    name: str = "mouse"
    by_keys: bool = False

    def press(self, target: Locator) -> None:
        if self.by_keys:
            self.reach(target)
            target.press("Enter")  # waits for the next page, as a click does
        else:
            target.wait_for()
            self.page.wait_for_load_state()
            target.click()

    def tick(self, target: Locator) -> None:
        """Click the label, because the input itself may be hidden behind a drawing."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.press("Space")
        else:
            target.evaluate_handle("element => element.labels[0]").as_element().click()
            expect(target).to_be_checked()

    def choose_files(self, target: Locator) -> None:
        """Open the browser's file chooser."""
        self.press(target if self.by_keys else target.locator("xpath=ancestor::label"))

    def write(self, target: Locator, text: str) -> None:
        """Replace the field's content."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.press("ControlOrMeta+a")
            self.page.keyboard.type(text) if text else self.page.keyboard.press("Delete")
        else:
            target.fill(text)

    def pick(self, target: Locator, label: str) -> None:
        """Choose an option of a select element."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.type(label.split()[0])  # a space typed after a second's pause would open the list
            expect(target.locator("option:checked")).to_have_text(label)
        else:
            target.select_option(label=label)

    def reach(self, target: Locator) -> None:
        """Press Tab until `target` has the focus, once around the page at most."""
        expect(target).to_be_enabled()
        self.page.wait_for_load_state()  # then the scripts listen
        element = target.element_handle()  # a role lookup at each Tab would take most of the time
        pressed, ahead_before = 0, MAX_TABS
        while pressed < MAX_TABS:
            ahead = element.evaluate(TABS_AHEAD)
            if ahead == 0:
                return
            if ahead is None:
                element, ahead = target.element_handle(), 1
            # Half of the way at once, unless the last presses came no nearer: a page behind a drawer takes no focus.
            steps = max(1, ahead // 2) if ahead < ahead_before else 1
            for _ in range(steps):
                self.page.keyboard.press("Tab")
            pressed, ahead_before = pressed + steps, ahead
        expect(target).to_be_focused(timeout=1)


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    return context


def fresh(browser: Browser, name: str) -> Hand:
    """Return this kind of hand in a new context, which the caller closes."""
    size, touches, by_keys = HANDS[name]
    context = new_context(browser, viewport=size, has_touch=touches, reduced_motion="reduce")
    return Hand(context.new_page(), name, by_keys)
