"""A decision report as people read it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import ceil, floor

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.actor import Actor
from benchmarks.reports.chart import Chart, Scored, draw
from benchmarks.reports.document import share_ticks
from benchmarks.statistics.payload import Interval
from benchmarks.templatetags.benchmarks import milliseconds
from common.text.money import rounded_dollars
from common.text.numbers import format_numbers, two_decimals
from reviews.models import Contrast, DecisionReport
from reviews.models.reviews import odds_of
from reviews.reports import access, sentences
from reviews.reports.document import (
    AgreementInputs,
    BoardInputs,
    CampaignInputs,
    Difference,
    Document,
    JudgeInputs,
    Label,
    Line,
    RunInputs,
    StopRuleInputs,
    canonical,
    checksum,
    read,
)
from reviews.reports.naming import without_names
from reviews.reports.people import CHECKS, PEOPLE

# Lines and differences of a page that is printed on two; the JSON has all of them. Fewer on a page that has agreement
# or a stop rule, too, and fewest on one with both.
SHOWN_LINES, SHOWN_DIFFERENCES = (12, 7, 4), (8, 4, 2)
SHOWN_SOURCES, SHOWN_CALIBRATED, SHOWN_CONTRASTS = 4, 4, 3
TICKS = 4


@dataclass(frozen=True)
class Row:
    """Texts of a contestant's line. prices: per answer, or of a model's tokens."""

    label: str
    rank: str
    score: str
    interval: str
    counted: str
    better_than: int
    price: str
    time: str
    is_uncertain: bool


@dataclass(frozen=True)
class DifferenceRow:
    first: str
    second: str
    value: str
    interval: str
    is_apart: bool | None
    needed: str


@dataclass(frozen=True)
class ContrastRow:
    """share: of people's votes for the first one, with its bounds."""

    first: str
    second: str
    decision: str
    share: str
    people: int
    opinions: int


@dataclass(frozen=True)
class AgreementRow:
    who: str
    same_winner: str
    alpha: str
    opinions: str


@dataclass(frozen=True)
class CalibratedRow:
    label: str
    judge: str
    people: str
    calibrated: str


@dataclass(frozen=True)
class Calibrated:
    """opinions, people: on what the judge read."""

    judge: str
    opinions: int
    people: int
    rows: list[CalibratedRow]


@dataclass(frozen=True)
class ReportPage:
    """Report as its reader may see it. text: the canonical JSON of that."""

    report: DecisionReport
    document: Document
    text: str
    shows_names: bool

    @property
    def checksum(self) -> str:
        return checksum(self.text)

    @property
    def is_of_run(self) -> bool:
        return isinstance(self.document.subject, RunInputs)

    @property
    def board(self) -> BoardInputs | None:
        match self.document.subject:
            case BoardInputs() as board:
                return board
            case CampaignInputs(board=board):
                return board
        return None

    @property
    def is_of_review(self) -> bool:
        return isinstance(self.document.subject, CampaignInputs)

    @property
    def stop_rule(self) -> StopRuleInputs | None:
        subject = self.document.subject
        return (subject.stop_rule or None) if isinstance(subject, CampaignInputs) else None

    @property
    def stop_odds(self) -> str:
        return "" if self.stop_rule is None else odds_of(self.stop_rule.share)

    @property
    def contrasts(self) -> list[ContrastRow]:
        equal = _("equal within %(odds)s") % {"odds": self.stop_odds}
        return [
            ContrastRow(
                self.labels[one.first], self.labels[one.second],
                equal if one.decision == "equal" else str(Contrast.Decision(one.decision).label),
                _range_of(Interval(one.mean, one.low, one.high), _percent), one.people, one.opinions,
            )
            for one in (self.document.figures.contrasts or [])[:SHOWN_CONTRASTS]
        ]  # fmt: skip

    @property
    def more_contrasts(self) -> int:
        return max(0, len(self.document.figures.contrasts or []) - SHOWN_CONTRASTS)

    @property
    def agreement(self) -> list[AgreementRow]:
        if self._agreement is None:
            return []
        judges = {judge.key: _judge_name(judge) for judge in self._agreement.judges}
        names = {PEOPLE: _("People with each other"), CHECKS: _("Checks with people")}
        return [
            AgreementRow(
                names.get(one.source) or _("%(judge)s with people") % {"judge": judges[one.source]},
                _range_of(one.raw, _percent), _range_of(one.alpha, two_decimals), format_numbers(n=one.opinions)["n"],
            )
            for one in self.document.figures.agreement[:SHOWN_SOURCES]
        ]  # fmt: skip

    @property
    def calibrated(self) -> Calibrated | None:
        judges = [] if self._agreement is None else self._agreement.judges
        judge = next((judge for judge in judges if judge.board is not None), None)
        if judge is None or judge.board is None:
            return None
        rows = [
            CalibratedRow(
                " · ".join(filter(None, [self.labels.get(line.key, "–"), line.prompt])), _points(line.judge),
                _points(line.people), _points(line.calibrated),
            )
            for line in judge.board.lines[:SHOWN_CALIBRATED]
        ]  # fmt: skip
        return Calibrated(_judge_name(judge), judge.board.opinions, judge.board.people, rows)

    @property
    def _agreement(self) -> AgreementInputs | None:
        subject = self.document.subject
        return None if isinstance(subject, BoardInputs) else subject.agreement

    @cached_property
    def labels(self) -> Mapping[str, str]:
        nameless = _("Entrant %(number)s") if self.is_of_run else _("Model %(number)s")
        return {key: label.name or nameless % {"number": key.lstrip("0")} for key, label in self._labels.items()}

    @property
    def _labels(self) -> Mapping[str, Label]:
        return self.document.labels

    @property
    def versions(self) -> list[tuple[str, Label]]:
        """Return what was asked, of the shown lines."""
        return [(self.labels[line.key], self._labels[line.key]) for line in self._shown]

    @property
    def _shown(self) -> Sequence[Line]:
        return self.document.figures.lines[: SHOWN_LINES[self._more_tables]]

    @property
    def _more_tables(self) -> int:
        return bool(self.document.figures.agreement) + bool(self.document.figures.contrasts)

    @property
    def more_lines(self) -> int:
        return len(self.document.figures.lines) - len(self._shown)

    @property
    def _most_differences(self) -> int:
        return SHOWN_DIFFERENCES[self._more_tables]

    @property
    def more_differences(self) -> int:
        return max(0, len(self.document.figures.differences) - self._most_differences)

    @property
    def cautions(self) -> list[str]:
        return [sentences.caution_sentence(caution, self.labels) for caution in self.document.figures.cautions]

    @property
    def answer(self) -> str:
        return sentences.answer(self.document.figures, self.labels)

    @property
    def asked(self) -> str:
        return sentences.asked(self.document.subject)

    @property
    def changes(self) -> list[str]:
        return list(sentences.changes(self.document, self.labels))

    @property
    def price_and_quality(self) -> list[str]:
        return list(sentences.price_and_quality(self.document.figures, self.labels))

    @property
    def energy(self) -> str:
        return sentences.energy(self.document.figures, self.labels)

    @property
    def rows(self) -> list[Row]:
        return [self._row(line) for line in self._shown]

    @property
    def differences(self) -> list[DifferenceRow]:
        return [self._difference(one) for one in self.document.figures.differences[: self._most_differences]]

    @property
    def chart(self) -> Chart:
        scores = [
            Scored(self.labels[line.key], line.low, line.value, line.high)
            for line in self._shown
            if line.value is not None and line.low is not None and line.high is not None
        ]
        if self.document.figures.unit == "share" or not scores:
            return draw(scores, share_ticks())
        low = 50 * floor(min(score.low for score in scores) / 50)
        high = max(50 * ceil(max(score.high for score in scores) / 50), low + 50)
        ticks = [low + (high - low) * place / TICKS for place in range(TICKS + 1)]
        return draw(scores, [(tick, number_format(tick, 0)) for tick in ticks])

    def _row(self, line: Line) -> Row:
        planned = "" if line.planned is None else f" / {format_numbers(n=line.planned)['n']}"
        return Row(
            label=self.labels[line.key],
            rank=_range(line),
            score=self._score(line.value),
            interval="–" if line.low is None or line.high is None
            else f"{self._score(line.low)} – {self._score(line.high)}",
            counted=format_numbers(n=line.counted)["n"] + planned,
            better_than=len(line.better_than),
            price=_price(line),
            time=_time(line),
            is_uncertain=bool(line.note),
        )  # fmt: skip

    def _difference(self, one: Difference) -> DifferenceRow:
        needed = "–" if one.needed is None else format_numbers(n=one.needed)["n"]
        has_interval = one.low is not None and one.high is not None
        return DifferenceRow(
            self.labels[one.reference], self.labels[one.other], self._signed(one.value),
            f"{self._signed(one.low)} … {self._signed(one.high)}" if has_interval else "–", one.is_apart,
            "–" if one.is_apart else needed,
        )  # fmt: skip

    def _score(self, value: float | None) -> str:
        if value is None:
            return "–"
        if self.document.figures.unit == "points":
            return number_format(round(value), 0)
        return _percent(value)

    def _signed(self, value: float | None) -> str:
        if value is None:
            return "–"
        rounded = round(100 * value, 1) if self.document.figures.unit == "share" else round(value, 1)
        sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
        return f"{sign}{number_format(abs(rounded), 1)}"


def read_report_page(report: DecisionReport, actor: Actor) -> ReportPage:
    document, shows_names = read(report.document), access.shows_names(actor, report)
    if shows_names:
        return ReportPage(report, document, report.document, shows_names)
    document = without_names(document)
    return ReportPage(report, document, canonical(document), shows_names)


def _percent(value: float) -> str:
    return _("%(number)s %%") % {"number": number_format(round(100 * value, 1), 1)}


def _points(interval: Interval | None) -> str:
    return "–" if interval is None else _range_of(interval, lambda value: number_format(round(value), 0))


def _range_of(interval: Interval, write: Callable[[float], str]) -> str:
    if interval.value is None:
        return "–"
    low, high = ("–" if bound is None else write(bound) for bound in (interval.low, interval.high))
    return f"{write(interval.value)} ({low} – {high})"


def _judge_name(judge: JudgeInputs) -> str:
    return judge.name or _("Judge %(number)s") % {"number": judge.key}


def _range(line: Line) -> str:
    if line.rank_best is None:
        return "–"
    return f"{line.rank_best}" if line.rank_best == line.rank_worst else f"{line.rank_best}–{line.rank_worst}"


def _price(line: Line) -> str:
    if line.cost is not None:
        return rounded_dollars(Decimal(str(line.cost)))
    if line.price_input is None or line.price_output is None:
        return "–"
    return " / ".join(rounded_dollars(Decimal(str(price))) for price in (line.price_input, line.price_output))


def _time(line: Line) -> str:
    return milliseconds(line.first_token_ms if line.total_ms is None else line.total_ms)
