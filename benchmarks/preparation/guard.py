"""Rendering of prompts in a guarded child process."""

import logging
from typing import TypeVar

import msgspec

from benchmarks.preparation.frames import (
    CaseProblem,
    CaseResult,
    Examine,
    Examined,
    RenderRequest,
    RenderTexts,
    Texts,
)
from common.child_process.frames import unpack
from common.child_process.process import ChildFailed, run_once

logger = logging.getLogger(__name__)

TOO_DEMANDING = "takes too much time or memory"


T = TypeVar("T", CaseResult, Texts, Examined)


def render(request: RenderRequest) -> list[CaseResult]:
    """Return a result for each case up to the first that the child did not survive, which has a problem."""
    results = _results(request, CaseResult)
    if len(results) < len(request.cases):
        case = request.cases[len(results)]
        logger.warning("the rendering child ended at case %s", case.key)
        results.append(CaseResult([], [CaseProblem(case.key, TOO_DEMANDING)]))
    return results


def render_texts(request: RenderTexts) -> list[Texts]:
    """Return texts of cases as `render` does."""
    results = _results(request, Texts)
    return results if len(results) == len(request.cases) else [*results, Texts([], TOO_DEMANDING)]


def examine(request: Examine) -> Examined:
    """Return problems of templates by position, of the schema as `variables`, and of cases."""
    results = _results(request, Examined)
    if results:
        return results[0]
    rendered = render(RenderRequest(request.prompts, request.cases, request.schema)) if request.cases else []
    problems = [problem for result in rendered for problem in result.problems]  # of the case that the child met last
    return Examined({}, problems) if problems else Examined({"variables": TOO_DEMANDING})


def _results(request: RenderRequest | RenderTexts | Examine, kind: type[T]) -> list[T]:
    try:
        output = run_once("benchmarks.preparation.child", content=msgspec.msgpack.encode(request))
    except ChildFailed as error:
        output = error.output
    return [msgspec.msgpack.decode(content, type=kind) for content in unpack(output)]
