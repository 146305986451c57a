"""Rendering of prompts in a guarded child process."""

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from benchmarks.preparation.frames import CaseProblem, CaseResult, RenderRequest
from common.rendering.frames import LENGTH_BYTES

logger = logging.getLogger(__name__)

TIMEOUT_S = 14.0
PROJECT_DIR = Path(__file__).resolve().parents[2]
TOO_DEMANDING = "takes too much time or memory"


def render(request: RenderRequest) -> list[CaseResult]:
    """Return a result for each case up to the first that the child did not survive, which has a problem."""
    child = subprocess.Popen(
        [sys.executable, "-s", "-m", "benchmarks.preparation.child"],
        cwd=PROJECT_DIR, env={"PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        output, _ = child.communicate(msgspec.msgpack.encode(request), timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
    finally:
        _kill(child)
    results = _decode(output)
    if len(results) < len(request.cases):
        case = request.cases[len(results)]
        logger.warning("the rendering child ended with %s at case %s", child.returncode, case.key)
        results.append(CaseResult([], [CaseProblem(case.key, TOO_DEMANDING)]))
    return results


def _decode(output: bytes) -> list[CaseResult]:
    results, at = [], 0
    while at + LENGTH_BYTES <= len(output):
        end = at + LENGTH_BYTES + int.from_bytes(output[at : at + LENGTH_BYTES])
        if end > len(output):
            break
        results.append(msgspec.msgpack.decode(output[at + LENGTH_BYTES : end], type=CaseResult))
        at = end
    return results


def _kill(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
