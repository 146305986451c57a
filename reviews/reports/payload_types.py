from typing import Literal, NotRequired, TypedDict

from common.payload_types import JsonObject, Moment

Readers = Literal["none", "names", "numbers"]
Subject = Literal["run", "campaign", "board"]


class ReportSummaryPayload(TypedDict):
    """Decision report. `readers`: everybody with names or numbers, or none but its owner or team. `mine`: you may
    change it. `team`: address of the one that owns it; missing without one."""

    id: str
    question: str
    subject: Subject
    readers: Readers
    mine: bool
    created_at: Moment
    team: NotRequired[str]


class ReportFilePayload(TypedDict):
    """`checksum`: SHA-256 of `report` as JSON with sorted names, without spaces, in UTF-8. docs/benchmarks-method.md
    describes `report`."""

    checksum: str
    report: JsonObject
