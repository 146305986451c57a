"""A decision report, computed again from its file and what its inputs name."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import UNSET, structs

from benchmarks.exports import verification as of_runs
from leaderboard.exports import verification as of_snapshots
from leaderboard.exports.readers import read_rows
from leaderboard.payload_types import SnapshotPayload
from reviews.reports.document import (
    FORMAT,
    BoardInputs,
    BoardLine,
    CampaignInputs,
    Document,
    RunInputs,
    canonical_json,
    checksum,
    read,
)
from reviews.reports.figures import figures_of
from reviews.reports.gathering import board_inputs, primary_only


class NotAReport(ValueError):
    """Raised with a message for people."""


def recompute(content: bytes) -> tuple[Document, list[str]]:
    """Return the report of a file, and a sentence per difference. Raises NotAReport."""
    try:
        file = json.loads(content)
        text = canonical_json(file["report"])
        document = read(text)
    except (ValueError, KeyError, TypeError) as error:
        raise NotAReport(f"This is not a decision report as JSON: {error}.") from error
    if document.format != FORMAT:
        raise NotAReport(f"The report has the format {document.format}, and this version computes {FORMAT}.")
    differences = []
    if file.get("checksum") != checksum(text):
        differences.append(f".checksum: {file.get('checksum')!r} is stored, {checksum(text)!r} follows")
    computed = figures_of(document.subject)
    differences += [f".figures{difference}" for difference in of_runs.differences(document.figures, computed)]
    return document, differences


def recompute_inputs(document: Document, export: Path, standings: Path | None) -> list[str]:
    """Return differences of the inputs from those that an export gives.

    Raises NotAReport, OSError, and the errors of both kinds of exports.
    """
    subject = document.subject
    if not next(iter(document.labels.values())).name:
        raise NotAReport("The report has no names: its inputs cannot be compared with an export.")
    if isinstance(subject, RunInputs):
        computed = primary_only(of_runs.recompute_file(export))
        return [f".payload{difference}" for difference in of_runs.differences(subject.payload, computed)]
    if standings is None:
        raise NotAReport("The report is of a board: name its snapshot, too: --standings.")
    board = subject.board if isinstance(subject, CampaignInputs) else subject
    return list(_board_differences(board, export, standings.read_bytes()))


def _board_differences(subject: BoardInputs, votes: Path, standings: bytes) -> Iterator[str]:
    published = of_snapshots.read_published(standings)
    if published.id != subject.snapshot:
        yield f".snapshot: {subject.snapshot!r} is stored, the file is of {published.id!r}"
        return
    yield from of_snapshots.recompute(published, read_rows(votes))
    snapshot: SnapshotPayload = msgspec.json.decode(standings, type=SnapshotPayload)
    stated = structs.replace(subject, lines=list(map(_without_facts_of_the_day, subject.lines)))
    named = board_inputs(snapshot, subject.team)
    computed = structs.replace(named, title=subject.title, lines=list(map(_without_facts_of_the_day, named.lines)))
    yield from of_runs.differences(stated, computed)


def _without_facts_of_the_day(line: BoardLine) -> BoardLine:
    """Prices and energy may have changed since, and are no part of a snapshot."""
    return structs.replace(line, price_input=None, price_output=None, energy=UNSET)
