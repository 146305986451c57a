"""`python -m tools.pdf_recall FOLDER…`: compare the words that uploads read in PDFs with those of pdftotext.

Needs poppler-utils. Prints the recall's median and worst ten, of files in which pdftotext finds at least 20 words, and
each file that is refused or read with notes.
"""

import re
import resource
import statistics
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from uploads.reading.findings import Text, Unreadable
from uploads.reading.guard import read

MIN_WORDS = 20
_WORD = re.compile(r"\w+")


class Compared(NamedTuple):
    """recall: share of pdftotext's words that were read, each as often as there. cpu_s: of the child process."""

    name: str
    words: int
    recall: float
    cpu_s: float
    remarks: str


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text)))


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _compare(path: Path) -> Compared:
    command = ["pdftotext", "-enc", "UTF-8", str(path), "-"]
    expected = _words(subprocess.run(command, capture_output=True, check=False).stdout.decode(errors="replace"))
    started_at = _cpu_s()
    try:
        result = read(path.read_bytes(), "document")
    except Unreadable as error:
        found, remarks = Counter[str](), f"refused: {error.reason}"
    else:
        pages = result.pages if isinstance(result, Text) else []
        found, remarks = _words(" ".join(pages)), ", ".join(f"{note.kind} {note.count}" for note in result.notes)
    recall = (expected & found).total() / max(1, expected.total())
    return Compared(path.name, expected.total(), recall, _cpu_s() - started_at, remarks)


def main(folders: list[str]) -> None:
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.pdf"))
    compared = [_compare(path) for path in paths]
    measured = sorted((file for file in compared if file.words >= MIN_WORDS), key=lambda file: file.recall)
    for file in compared:
        if file.remarks:
            print(f"{file.words:7} {file.recall:6.3f} {file.cpu_s:6.2f} s  {file.name}: {file.remarks}")
    print(f"\nworst ten of {len(measured)} files with {MIN_WORDS} words:")
    for file in measured[:10]:
        print(f"{file.words:7} {file.recall:6.3f} {file.cpu_s:6.2f} s  {file.name}")
    if measured:
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        seconds = [file.cpu_s for file in measured]
        print(f"median {statistics.median(file.recall for file in measured):.4f}, at least 0.97: ", end="")
        print(f"{sum(file.recall >= 0.97 for file in measured)}; CPU {sum(seconds):.1f} s, memory {memory} MB at most")


if __name__ == "__main__":
    main(sys.argv[1:])
