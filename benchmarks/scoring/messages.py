"""Messages between ScoringChild and its child process, framed by common.child_process.frames."""

import msgspec

from benchmarks.scoring.check import Check
from benchmarks.scoring.plugins import PluginState
from benchmarks.scoring.ports import ScoredAnswer, Verdict
from benchmarks.scoring.refusals import CheckError

# The child's first frame of each reply: it has imported what the request needs, so that the request's time begins.
READY = b""


class Score(msgspec.Struct, tag=True):
    check: msgspec.Raw
    answer: ScoredAnswer
    target: list[object]


class FindErrors(msgspec.Struct, tag=True):
    check: Check
    position: str


class ListPlugins(msgspec.Struct, tag=True):
    pass


Request = Score | FindErrors | ListPlugins


class Reply(msgspec.Struct):
    """resident_bytes: memory of the child, which its owner replaces when it has grown."""

    resident_bytes: int
    verdict: Verdict | None = None
    errors: list[CheckError] = []
    plugins: list[PluginState] = []
