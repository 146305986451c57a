"""Rendering of prompts in a guarded child process."""

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TypeVar

import msgspec

from benchmarks.preparation.frames import CaseProblem, CaseResult, RenderRequest
from benchmarks.preparation.text_frames import Examine, Examined, RenderTexts, Texts
from common.child_process.frames import LENGTH_BYTES

logger = logging.getLogger(__name__)

TIMEOUT_S = 14.0
PROJECT_DIR = Path(__file__).resolve().parents[2]
TOO_DEMANDING = "takes too much time or memory"


T = TypeVar("T", CaseResult, Texts, Examined)


def render(request: RenderRequest) -> list[CaseResult]:
    """Return a result for each case up to the first that the child did not survive, which has a problem."""
    results = _decode(_run("benchmarks.preparation.child", request), CaseResult)
    if len(results) < len(request.cases):
        case = request.cases[len(results)]
        logger.warning("the rendering child ended at case %s", case.key)
        results.append(CaseResult([], [CaseProblem(case.key, TOO_DEMANDING)]))
    return results


def render_texts(request: RenderTexts) -> list[Texts]:
    """Return texts of cases as `render` does."""
    results = _decode(_run("benchmarks.preparation.text_child", request), Texts)
    return results if len(results) == len(request.cases) else [*results, Texts([], TOO_DEMANDING)]


def examine(request: Examine) -> Examined:
    """Return problems of templates by position, of the schema as `variables`, and of cases."""
    results = _decode(_run("benchmarks.preparation.text_child", request), Examined)
    if results:
        return results[0]
    rendered = render(RenderRequest(request.prompts, request.cases, request.schema)) if request.cases else []
    problems = [problem for result in rendered for problem in result.problems]  # of the case that the child met last
    return Examined({}, problems) if problems else Examined({"variables": TOO_DEMANDING})


def _run(module: str, request: RenderRequest | RenderTexts | Examine) -> bytes:
    child = subprocess.Popen(  # noqa: S603 (our own modules)
        [sys.executable, "-s", "-m", module],
        cwd=PROJECT_DIR, env={"PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return child.communicate(msgspec.msgpack.encode(request), timeout=TIMEOUT_S)[0]
    except subprocess.TimeoutExpired as error:
        return error.stdout or b""
    finally:
        _kill(child)


def _decode(output: bytes, kind: type[T]) -> list[T]:
    results, at = [], 0
    while at + LENGTH_BYTES <= len(output):
        end = at + LENGTH_BYTES + int.from_bytes(output[at : at + LENGTH_BYTES])
        if end > len(output):
            break
        results.append(msgspec.msgpack.decode(output[at + LENGTH_BYTES : end], type=kind))
        at = end
    return results


def _kill(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
