"""`python -m benchmarks.preparation.text_child`: render the targets of checks, or examine templates and a schema.

It has the limits of benchmarks.preparation.child.
"""

import sys

import jsonschema_rs
import minijinja
import msgspec

from benchmarks.preparation.child import Renderer, environment
from benchmarks.preparation.frames import RenderRequest
from benchmarks.preparation.text_frames import Examine, Examined, RenderTexts, Texts, TextsOfCase
from common.child_process.frames import pack
from common.child_process.limits import limit_run


def main() -> None:
    limit_run()
    request = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=RenderTexts | Examine)
    if isinstance(request, Examine):
        _write(_examined(request))
        return
    templates = environment()
    for case in request.cases:
        _write(_rendered(templates, request, case))


def _write(result: Texts | Examined) -> None:
    sys.stdout.buffer.write(pack(msgspec.msgpack.encode(result)))
    sys.stdout.buffer.flush()


def _rendered(templates: minijinja.Environment, request: RenderTexts, case: TextsOfCase) -> Texts:
    values = {"expected": case.expected, **case.variables}
    texts, characters = [], 0
    for template in (*request.templates, *case.own):
        try:
            texts.append(templates.render_str(template, "target", **values))
        except minijinja.TemplateError as error:
            return Texts([], _problem(error))
        characters += len(texts[-1])
        if characters > request.max_characters:
            return Texts([], f"over {request.max_characters} characters")
    return Texts(texts)


def _examined(request: Examine) -> Examined:
    templates, problems = environment(), {}
    for position, template in request.templates.items():
        try:
            templates.add_template(position, template)
        except minijinja.TemplateError as error:
            problems[position] = _problem(error)
    try:
        jsonschema_rs.validator_for(request.schema, offline=True, pattern_options=jsonschema_rs.RegexOptions())
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        problems["variables"] = str(error).splitlines()[0]
    if problems:
        return Examined(problems)
    renderer = Renderer(RenderRequest(request.prompts, request.cases, request.schema))
    return Examined({}, [problem for case in request.cases for problem in renderer.result(case).problems])


def _problem(error: minijinja.TemplateError) -> str:
    place = f"line {error.line}: " if error.line else ""
    return place + ": ".join(filter(None, [error.kind, error.detail]))


if __name__ == "__main__":
    main()
