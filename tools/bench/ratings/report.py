from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class Report:
    missed: int = 0

    def heading(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def row(self, label: str, value: str, bar: str = "", *, held: bool = True, verdict: str = "MISSED") -> None:
        """Print a row. held: whether the figure meets its bar; verdict: text otherwise."""
        self.missed += not held and verdict == "MISSED"
        print(f"  {label:<66}{value:>22}   {bar}{'' if held else f'   {verdict}'}", flush=True)

    def share(self, label: str, held: Sequence[bool], *, low: float, high: float = 1.0) -> None:
        """Print a share with two standard errors; a bar missed by less is not counted as missed."""
        share = float(np.mean(held))
        margin = 2 * np.sqrt(max(share * (1 - share), low * (1 - low)) / len(held))
        verdict = "within chance" if low - margin <= share <= high + margin else "MISSED"
        bar = f"bar {low} – {high}" if high < 1 else f"bar {low}"
        value = f"{share:.4f} ± {margin:.4f}"
        self.row(f"{label} ({len(held):,})", value, bar, held=low <= share <= high, verdict=verdict)

    def mean(self, label: str, values: Sequence[float], *, high: float) -> None:
        """Print a mean with two standard errors; a bar missed by less is not counted as missed."""
        mean, margin = float(np.mean(values)), 2 * float(np.std(values, ddof=1)) / np.sqrt(len(values))
        verdict = "within chance" if mean - margin <= high else "MISSED"
        value = f"{mean:.1f} ± {margin:.1f}"
        self.row(f"{label} ({len(values):,})", value, f"bar {high:g}", held=mean <= high, verdict=verdict)

    def end(self) -> None:
        print(f"\n{self.missed} bars missed" if self.missed else "\nNo bar is missed.", flush=True)
