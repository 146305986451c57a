from collections.abc import Iterator

import msgspec

from benchmarks.exports.run_export import RunExport


def as_jsonl(export: RunExport) -> Iterator[bytes]:
    encoder = msgspec.json.Encoder()
    return (encoder.encode_lines(batch) for batch in export.batches())
