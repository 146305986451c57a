"""The report for readers who see numbers only."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import UNSET, UnsetType, structs

from reviews.reports.document import (
    AgreementInputs,
    BoardInputs,
    CalibratedInputs,
    CampaignInputs,
    DecidingVotes,
    Document,
    Inputs,
    Label,
    RunInputs,
    StopRuleInputs,
)
from reviews.reports.figures import figures_of

_Named = TypeVar("_Named", bound=msgspec.Struct)


def without_names(document: Document) -> Document:
    """Return the report with contestants as numbers, and without what tells them or the run.

    The template's name stays, as on a run's published report. Prices, energy and retired models go: they tell models.
    """
    places = {line.key: place for place, line in enumerate(document.figures.lines, start=1)}
    keys = {key: f"{places.get(key, len(places) + 1 + place):03}" for place, key in enumerate(sorted(document.labels))}
    subject = _subject(document.subject, keys)
    return structs.replace(
        document, subject=subject, figures=figures_of(subject), labels={key: Label(name="") for key in keys.values()}
    )  # fmt: skip


def _subject(subject: Inputs, keys: dict[str, str]) -> Inputs:
    match subject:
        case RunInputs():
            return structs.replace(_run(subject, keys), agreement=_agreement(subject.agreement, keys))
        case BoardInputs():
            return _board(subject, keys)
        case CampaignInputs():
            board = structs.replace(_board(subject.board, keys), board="", title="")
            return structs.replace(
                subject, review="", title="", run="", board=board, agreement=_agreement(subject.agreement, keys),
                stop_rule=_stop_rule(subject.stop_rule, keys), retired=UNSET,
            )  # fmt: skip


def _agreement(agreement: AgreementInputs | None, keys: dict[str, str]) -> AgreementInputs | None:
    if agreement is None:
        return None
    judges = [
        structs.replace(judge, key=str(place), name="", model="", board=_calibrated(judge.board, keys))
        for place, judge in enumerate(agreement.judges, start=1)
    ]
    return structs.replace(agreement, judges=judges)


def _stop_rule(stop_rule: StopRuleInputs | UnsetType, keys: dict[str, str]) -> StopRuleInputs | UnsetType:
    if not stop_rule:
        return UNSET
    contrasts = [
        structs.replace(contrast, first=keys[contrast.first], second=keys[contrast.second])
        for contrast in stop_rule.contrasts
    ]
    contrasts.sort(key=lambda contrast: (contrast.first, contrast.second))
    return structs.replace(stop_rule, contrasts=contrasts)


def _calibrated(board: CalibratedInputs | None, keys: dict[str, str]) -> CalibratedInputs | None:
    if board is None:
        return None
    lines = [structs.replace(line, key=keys.get(line.key, ""), prompt="") for line in board.lines]
    return structs.replace(board, lines=lines)


def _run(subject: RunInputs, keys: dict[str, str]) -> RunInputs:
    payload = subject.payload
    metric = payload.metrics[0]

    def renamed(items: Sequence[_Named], *names: str) -> list[_Named]:
        replaced = [structs.replace(item, **{name: keys[getattr(item, name)] for name in names}) for item in items]
        return sorted(replaced, key=lambda item: [getattr(item, name) for name in names])

    payload = structs.replace(
        payload,
        header=structs.replace(payload.header, run=""),
        entrants=[
            structs.replace(entrant, model="", model_version="", prompt_label="")
            for entrant in renamed(payload.entrants, "entrant")
        ],
        metrics=[
            structs.replace(
                metric,
                means=renamed(metric.means, "entrant"),
                pairs=renamed(metric.pairs, "first", "second"),
                against_baseline=renamed(metric.against_baseline, "first", "second"),
            )
        ],
        ranks=renamed(payload.ranks, "entrant"),
        usage=renamed(payload.usage, "entrant"),
    )
    return structs.replace(subject, run="", name="", payload=payload, energy=UNSET)


def _board(subject: BoardInputs, keys: dict[str, str]) -> BoardInputs:
    def renamed(deciding: DecidingVotes | None) -> DecidingVotes | None:
        return None if deciding is None else structs.replace(deciding, first=keys.get(deciding.first, ""))

    lines = [
        structs.replace(line, key=keys[line.key], price_input=None, price_output=None, energy=UNSET)
        for line in subject.lines
    ]
    lines.sort(key=lambda line: line.key)
    return structs.replace(
        subject, snapshot="", team="", tallies_checksum="", lines=lines, to_add=renamed(subject.to_add),
        to_drop=renamed(subject.to_drop),
    )  # fmt: skip
