"""Files of a release, written to a folder."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec
from django.conf import settings
from rest_framework.renderers import JSONRenderer

from common.tables.table import Table
from common.tables.writers import WRITERS, as_jsonl
from leaderboard.boards import snapshots
from leaderboard.counting.site_numbers import SiteNumbers
from leaderboard.export_rows import VoteRow
from leaderboard.exports import selection, stars, votes
from leaderboard.exports.columns import STARS, VOTES
from leaderboard.exports.stars import StarRow
from leaderboard.models import COMPARE, DataRelease
from leaderboard.releases import conversations
from leaderboard.releases.conversations import CONVERSATIONS, ReleasedConversation

Row = TypeVar("Row", bound=msgspec.Struct)

CHECKSUMS = "SHA256SUMS"
CONVERSATION_FILES = "conversations."


@dataclass(frozen=True)
class WrittenFile:
    path: Path
    size: int
    sha256: str
    rows: int | None


def write_files(release: DataRelease, folder: Path) -> list[WrittenFile]:
    """Write votes, stars, conversations if they are published, the snapshot, a manifest and checksums."""
    written = [*_write_table(folder, "votes", VoteRow, VOTES, selection.snapshot_export(release.run).batches())]
    if release.last_star:
        given = stars.batches(votes.ExportRange(COMPARE, last_order=0, last_change=release.last_star))
        written += _write_table(folder, "stars", StarRow, STARS, given)
    if settings.ARENA_PUBLISH_PROMPTS:
        texts = conversations.batches(release.run.last_order)
        written += _write_table(folder, "conversations", ReleasedConversation, CONVERSATIONS, texts)
    snapshot = JSONRenderer().render(snapshots.read_snapshot(release.run.public_id))
    written.append(_write(folder / "snapshot.json", snapshot))
    manifest = {
        "release": str(release),
        "snapshot": release.run.public_id,
        "last_vote": release.run.shown_order,
        "last_stars": SiteNumbers.read("battles_starrating", until=release.last_star).shown(release.last_star),
        "licence": release.licence,
        "licence_url": release.licence_url,
        "rows": {file.path.name: file.rows for file in written if file.rows is not None},
    }
    written.append(_write(folder / "release.json", json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n"))
    checksums = "".join(f"{file.sha256}  {file.path.name}\n" for file in written)
    return [*written, _write(folder / CHECKSUMS, checksums.encode())]


def released_orders(folder: Path, release: DataRelease) -> list[int]:
    """Return the numbers in the log of the votes whose conversations were written."""
    lines = folder / "conversations.jsonl"
    if not lines.exists():
        return []
    batches = _read_again(lines, ReleasedConversation)
    numbers = SiteNumbers.read("battles_vote", until=release.run.last_order)
    return [numbers.in_log(row.order) for batch in batches for row in batch if not row.withdrawn]


def _write_table(
    folder: Path, name: str, row_type: type[msgspec.Struct], table: Table, batches: Iterable[Sequence[object]]
) -> Iterator[WrittenFile]:
    """Write one file of each format. The rows are queried once, so that all formats have the same pseudonyms."""
    lines, rows = folder / f"{name}.jsonl", 0

    def counted() -> Iterator[Sequence[object]]:
        nonlocal rows
        for batch in batches:
            rows += len(batch)
            yield batch

    with lines.open("wb") as file:
        file.writelines(as_jsonl(counted(), table))
    for ending, write in WRITERS.items():
        path = folder / f"{name}.{ending}"
        if path != lines:
            with path.open("wb") as file:
                file.writelines(write(_read_again(lines, row_type), table))
        yield _describe(path, rows)


def _read_again(lines: Path, row_type: type[Row]) -> Iterator[list[Row]]:
    decoder = msgspec.json.Decoder(row_type)
    with lines.open("rb") as file:
        while batch := [decoder.decode(line) for line in islice(file, votes.BATCH)]:
            yield batch


def _write(path: Path, content: bytes) -> WrittenFile:
    path.write_bytes(content)
    return _describe(path, None)


def _describe(path: Path, rows: int | None) -> WrittenFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return WrittenFile(path, path.stat().st_size, digest, rows)
