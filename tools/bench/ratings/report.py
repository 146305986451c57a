"""The table that is printed: each figure beside its bar."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class Report:
    missed: int = 0

    def head(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def say(self, what: str, value: str, bar: str = "", *, held: bool = True, verdict: str = "MISSED") -> None:
        """`held`: whether the figure keeps to its bar; `verdict`: what is printed where it does not."""
        self.missed += not held and verdict == "MISSED"
        print(f"  {what:<66}{value:>22}   {bar}{'' if held else f'   {verdict}'}", flush=True)

    def share(self, what: str, held: Sequence[bool], *, low: float, high: float = 1.0) -> None:
        """How often something held, out of how many cases, with two standard errors: a bar missed by less is chance."""
        share = float(np.mean(held))
        doubt = 2 * np.sqrt(max(share * (1 - share), low * (1 - low)) / len(held))
        verdict = "within chance" if low - doubt <= share <= high + doubt else "MISSED"
        bar = f"bar {low} – {high}" if high < 1 else f"bar {low}"
        value = f"{share:.4f} ± {doubt:.4f}"
        self.say(f"{what} ({len(held):,})", value, bar, held=low <= share <= high, verdict=verdict)

    def end(self) -> None:
        print(f"\n{self.missed} bars missed" if self.missed else "\nNo bar is missed.", flush=True)
