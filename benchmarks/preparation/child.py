"""`python -m benchmarks.preparation.child`: read one request, write a result for each case or Examined.

The process has no database, settings, keys or files.
"""

import hashlib
import sys
from collections.abc import Iterator

import jsonschema_rs
import minijinja
import msgspec

from benchmarks.preparation.frames import (
    CaseProblem,
    CaseResult,
    CaseSource,
    Examine,
    Examined,
    PromptSource,
    RenderedSource,
    RenderRequest,
    RenderTexts,
    Texts,
    TextsOfCase,
)
from common.child_process.frames import pack
from common.child_process.limits import limit_run
from common.payload_types import JsonObject

# Fuel ends loops, but not the growth of a string: kernel limits apply.
FUEL = 200_000
MAX_PROBLEMS_PER_CASE = 20
# Filters that read attributes, mark text as HTML, or print values that a template sees.
_REFUSED_FILTERS = ("attr", "safe", "escape", "e", "urlencode", "pprint")
_REFUSED_FUNCTIONS = ("debug", "cycler", "joiner")


class _NotRendered(Exception):
    """line, column: in the template, from 1; 0 if unknown."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


class _BadSchema(Exception):
    pass


def _environment() -> minijinja.Environment:
    environment = minijinja.Environment()
    environment.undefined_behavior, environment.fuel = "strict", FUEL
    environment.keep_trailing_newline = True
    for name in _REFUSED_FILTERS:
        environment.remove_filter(name)
    for name in _REFUSED_FUNCTIONS:
        environment.remove_global(name)
    return environment


def _validator(schema: JsonObject) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(schema, offline=True, pattern_options=jsonschema_rs.RegexOptions())
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise _BadSchema(str(error).splitlines()[0]) from None


class _PromptRenderer:
    def __init__(self, request: RenderRequest) -> None:
        """Raises _BadSchema."""
        self._request, self._environment = request, _environment()
        self._validator = _validator(request.schema)

    def result(self, case: CaseSource) -> CaseResult:
        problems = [
            CaseProblem(case.key, f"{'.'.join(map(str, error.instance_path)) or 'variables'}: {error.message}")
            for error, _ in zip(self._validator.iter_errors(case.variables), range(MAX_PROBLEMS_PER_CASE), strict=False)
        ]
        if problems:
            return CaseResult([], problems)
        rendered: list[RenderedSource] = []
        for prompt in self._request.prompts:
            try:
                rendered.append(self._rendered(prompt, case))
            except _NotRendered as error:
                problems.append(CaseProblem(case.key, error.problem, prompt.label, error.line, error.column))
        return CaseResult(rendered, problems)

    def _rendered(self, prompt: PromptSource, case: CaseSource) -> RenderedSource:
        values = {"expected": case.expected, **case.files, **case.variables}
        own = [
            {"role": message["role"], "content": self._render(message["template"], prompt, values)}
            for message in prompt.messages
        ]
        system = [message for message in own if message["role"] == "system"]
        # A prompt of variables that a ready-made chat lacks adds nothing to it.
        others = [message for message in own[len(system) :] if message["content"].strip() or not case.messages]
        messages: list[JsonObject] = [*system, *(case.messages or []), *others]
        turns = [self._render(turn, prompt, values) for turn in prompt.turns]
        characters = sum(len(str(message["content"])) for message in messages) + sum(map(len, turns))
        if characters > self._request.max_characters:
            raise self._too_long
        digest = hashlib.sha256(msgspec.json.encode([messages, turns])).hexdigest()
        return RenderedSource(prompt.id, case.id, messages, turns, digest, characters)

    def _render(self, template: str, prompt: PromptSource, values: JsonObject) -> str:
        try:
            text = self._environment.render_str(template, prompt.label, **values)
        except minijinja.TemplateError as error:
            # A range counts bytes.
            before = template.encode()[: error.range[0]].decode() if error.range else None
            column = 0 if before is None else len(before) - before.rfind("\n")
            raise _NotRendered(_reason(error), error.line or 0, column) from None
        if len(text) > self._request.max_characters:
            raise self._too_long
        return text

    @property
    def _too_long(self) -> _NotRendered:
        return _NotRendered(f"over {self._request.max_characters} characters")


def _results(request: RenderRequest | RenderTexts | Examine) -> Iterator[CaseResult | Texts | Examined]:
    if isinstance(request, Examine):
        yield _examined(request)
    elif isinstance(request, RenderTexts):
        templates = _environment()
        yield from (_texts(templates, request, case) for case in request.cases)
    else:
        yield from _prompts(request)


def _prompts(request: RenderRequest) -> Iterator[CaseResult]:
    try:
        renderer = _PromptRenderer(request)
    except _BadSchema as error:
        problem = f"schema of the variables: {error}"
        yield from (CaseResult([], [CaseProblem(case.key, problem)]) for case in request.cases)
        return
    yield from map(renderer.result, request.cases)


def _texts(templates: minijinja.Environment, request: RenderTexts, case: TextsOfCase) -> Texts:
    values = {"expected": case.expected, **case.variables}
    texts, characters = [], 0
    for template in (*request.templates, *case.own):
        try:
            texts.append(templates.render_str(template, "target", **values))
        except minijinja.TemplateError as error:
            return Texts([], _reason_with_line(error))
        characters += len(texts[-1])
        if characters > request.max_characters:
            return Texts([], f"over {request.max_characters} characters")
    return Texts(texts)


def _examined(request: Examine) -> Examined:
    templates, problems = _environment(), {}
    for position, template in request.templates.items():
        try:
            templates.add_template(position, template)
        except minijinja.TemplateError as error:
            problems[position] = _reason_with_line(error)
    try:
        renderer = _PromptRenderer(RenderRequest(request.prompts, request.cases, request.schema))
    except _BadSchema as error:
        problems["variables"] = str(error)
        return Examined(problems)
    if problems:
        return Examined(problems)
    return Examined({}, [problem for case in request.cases for problem in renderer.result(case).problems])


def _reason_with_line(error: minijinja.TemplateError) -> str:
    place = f"line {error.line}: " if error.line else ""
    return place + _reason(error)


def _reason(error: minijinja.TemplateError) -> str:
    return ": ".join(filter(None, [error.kind, error.detail]))


def main() -> None:
    limit_run()
    request = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=RenderRequest | RenderTexts | Examine)
    for result in _results(request):
        sys.stdout.buffer.write(pack(msgspec.msgpack.encode(result)))
        sys.stdout.buffer.flush()  # the parent counts the results to name the case that killed this process


if __name__ == "__main__":
    main()
