"""How people reach what they see: with a mouse, a finger, or the keys alone."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.axe import PHONE, WIDE

# However busy the machine is: what takes longer never comes.
PATIENCE_MS = 120_000
MOST_TABS = 150
# By name: on which screen, by touching it, and by keys; on a phone's that is a desktop at 400 % zoom.
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
    page: Page
    name: str = "mouse"
    by_keys: bool = False

    def press(self, target: Locator) -> None:
        """A button, a link or a summary."""
        if self.by_keys:
            self.reach(target)
            target.press("Enter")  # which waits for the page it leads to, as a click does
        else:
            target.wait_for()
            self.page.wait_for_load_state()
            target.click()

    def tick(self, target: Locator) -> None:
        """By its label: what it stands for may be drawn in its place."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.press("Space")
        else:
            target.evaluate_handle("element => element.labels[0]").as_element().click()
            expect(target).to_be_checked()

    def choose_files(self, target: Locator) -> None:
        """As far as the browser's own question for them."""
        self.press(target if self.by_keys else target.locator("xpath=ancestor::label"))

    def write(self, target: Locator, text: str) -> None:
        """In place of what was there."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.press("ControlOrMeta+a")
            self.page.keyboard.type(text) if text else self.page.keyboard.press("Delete")
        else:
            target.fill(text)

    def pick(self, target: Locator, label: str) -> None:
        """From a list that folds out."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.type(label.split()[0])  # after a second's silence a space would fold the list out
            expect(target.locator("option:checked")).to_have_text(label)
        else:
            target.select_option(label=label)

    def reach(self, target: Locator) -> None:
        """As far as Tab goes, from where the focus is, and once around."""
        expect(target).to_be_enabled()
        self.page.wait_for_load_state()  # and its scripts listen
        element = target.element_handle()  # looking a role up at each Tab would take most of the time
        pressed = 0
        while pressed < MOST_TABS:
            ahead = element.evaluate(TABS_AHEAD)
            if ahead == 0:
                return
            if ahead is None:
                element = target.element_handle()
                pressed += 1
            for _ in range(max(1, (ahead or 1) // 2)):  # half of the way: some of what was counted takes no focus
                self.page.keyboard.press("Tab")
                pressed += 1
        expect(target).to_be_focused(timeout=1)


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    return context


def fresh(browser: Browser, name: str) -> Hand:
    """The hand of that name in a browser that knows nobody yet; whoever asks closes the page's context."""
    size, touches, by_keys = HANDS[name]
    context = new_context(browser, viewport=size, has_touch=touches, reduced_motion="reduce")
    return Hand(context.new_page(), name, by_keys)
