"""How people reach what they see: with a mouse, a finger, or the keys alone."""

from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

MOST_TABS = 150


@dataclass
class Hand:
    page: Page
    by_keys: bool = False

    def press(self, target: Locator) -> None:
        """A button, a link or a summary."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.press("Enter")
        else:
            target.click()

    def tick(self, target: Locator) -> None:
        """What has a label around it."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.press("Space")
        else:
            target.locator("xpath=ancestor::label").click()
            expect(target).to_be_checked()

    def write(self, target: Locator, text: str) -> None:
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.type(text)
        else:
            target.fill(text)

    def pick(self, target: Locator, label: str) -> None:
        """From a list that folds out."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.type(label)
        else:
            target.select_option(label=label)

    def reach(self, target: Locator) -> None:
        """As far as Tab goes, from where the focus is, and once around."""
        target.wait_for(state="attached")
        for _ in range(MOST_TABS):
            if target.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        expect(target).to_be_focused(timeout=1)
