"""lm-evaluation-harness: a task's YAML, and a file of documents beside it."""

import json
import posixpath
import re
from itertools import islice

import re2

from benchmarks.imports.building import LETTERED, MAX_CHOICES, Cases, choice_checks
from benchmarks.imports.content import Case, Check, Imported, Message, Prompt
from benchmarks.imports.formats.fields import for_each, is_number
from benchmarks.imports.formats.jinja_values import only_expression, value_of
from benchmarks.imports.readers.documents import Map, Seq, place_in
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import Place, ReadError
from benchmarks.imports.source import RECORDS, Source
from benchmarks.scoring.scorers.choice import TEXTS_BESIDE_CHOICES, VARIABLE

_USED = {
    "task", "task_alias", "tag", "include", "dataset_path", "dataset_name", "dataset_kwargs", "test_split",
    "output_type", "doc_to_text", "doc_to_target", "doc_to_choice", "description", "fewshot_config", "fewshot_split",
    "num_fewshot", "filter_list", "metric_list", "generation_kwargs", "repeats", "metadata",
}  # fmt: skip
_LIKELIHOOD = ("loglikelihood", "loglikelihood_rolling")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_METRICS = {"exact_match": "equals", "bleu": "bleu", "chrf": "chrf", "ter": "ter"}
_PARAMETERS = {"temperature": "temperature", "top_p": "top_p", "max_gen_toks": "max_tokens", "seed": "seed",
               "until": "stop"}  # fmt: skip
_MAX_INCLUDES = 5
_MAX_SHOTS = 4  # two messages each, beside the description and the question


def read(source: Source) -> Imported:
    task = source.document()
    if not isinstance(task, Map):
        raise ReadError("no_configuration", Place(0, 0, source.main_in_report))
    return _Task(source, _with_includes(source, task)).read()


def _with_includes(source: Source, task: Map) -> Map:
    for _ in range(_MAX_INCLUDES):
        if "include" not in task:
            return task
        place = place_in(task, "include")
        other = source.document(source.find(as_text(task.pop("include")), source.main, place))
        if not isinstance(other, Map):
            raise ReadError("no_configuration", place)
        for name, value in other.items():
            if name not in task:
                task[name], task.places[name] = value, other.places[name]
    raise ReadError("too_many_includes", task.place, limit=_MAX_INCLUDES)


class _Task:
    def __init__(self, source: Source, task: Map) -> None:
        self._source, self._log, self._task = source, source.log, task
        self._cases = Cases(source.log)
        kind = as_text(task.get("output_type")) or "generate_until"
        if kind in _LIKELIHOOD:
            raise ReadError("likelihood_not_available", place_in(task, "output_type"), type=kind)
        if "group" in task and "doc_to_text" not in task:
            raise ReadError("group_not_supported", place_in(task, "group"))
        self._is_choice = kind == "multiple_choice"
        self._choices_name = VARIABLE

    def read(self) -> Imported:
        for name in self._task.keys() - _USED:
            self._log.left_out("key_not_used", place_in(self._task, name), key=name)
        for_each(self._source.rows(self._documents()), self._add, self._log)
        if self._is_choice:
            self._log.changed("not_the_likelihood_score", place_in(self._task, "output_type"))
        checks = self._choice_checks() if self._is_choice else self._checks()
        name = as_text(self._task.get("task")) or self._source.request.name
        template = self._cases.template(name, [self._prompt()], checks, parameters=self._parameters())
        repeats = self._task.get("repeats")
        return Imported("lm_eval", [], {}, template, repeats=repeats if isinstance(repeats, int) else None)

    def _documents(self) -> str:
        """Return the path of the documents: the one that the task names, or the only file of records."""
        keywords = self._task.get("dataset_kwargs")
        named = keywords.get("data_files") if isinstance(keywords, Map) else None
        if isinstance(named, Map):
            named = named.get(as_text(self._task.get("test_split")) or "test", next(iter(named.values()), None))
        place = place_in(self._task, "dataset_kwargs" if keywords else "dataset_path")
        if isinstance(named, str):
            name = posixpath.basename(named)
            if paths := [path for path in self._source.files if posixpath.basename(path) == name]:
                return paths[0]
            raise ReadError("file_missing", place, file=named)
        records = [path for path in self._source.files if path.lower().endswith(RECORDS)]
        if len(records) != 1:
            raise ReadError("documents_missing", place, dataset=as_text(self._task.get("dataset_path")))
        return records[0]

    def _template(self, name: str) -> str:
        """Return the template of doc_to_…; the bare name of a column stands for its value."""
        value = self._task.get(name)
        if not isinstance(value, str):
            raise ReadError("field_missing" if value is None else "field_is_no_text", self._place(name), field=name)
        return f"{{{{ {value} }}}}" if _IDENTIFIER.match(value) else value

    def _place(self, name: str) -> Place:
        return place_in(self._task, name)

    def _add(self, row: Row) -> None:
        variables = {name: value for name, value in row.cells.items() if _IDENTIFIER.match(name)}
        case = Case("", variables)
        target = self._target(row)
        choices: list[str] = []
        if self._is_choice:
            choices = self._choices(row)
            self._name_choices(row, choices)
            variables[self._choices_name] = choices
        if isinstance(target, list):
            case.expected = [self._letter(item, choices, row) if self._is_choice else as_text(item) for item in target]
        elif target is not None and not (isinstance(target, str) and self._has_template()):
            case.expected = [self._letter(target, choices, row) if self._is_choice else as_text(target)]
        self._cases.add(case, row.place())

    def _has_template(self) -> bool:
        """Return whether the target is a text with variables, which the case's preparation fills in."""
        target = self._task.get("doc_to_target")
        return isinstance(target, str) and "{" in target and not only_expression(target)

    def _target(self, row: Row) -> object:
        """Return the value of doc_to_target: several accepted answers are a list."""
        target = self._task.get("doc_to_target")
        if not isinstance(target, str):
            return list(target) if isinstance(target, list) else target
        if _IDENTIFIER.match(target) or (expression := only_expression(target)):
            value = row.cells.get(target) if _IDENTIFIER.match(target) else value_of(expression, dict(row.cells))
            if value is None or value == []:
                raise ReadError("field_missing", row.place(target), field=target)
            return value
        return target

    def _name_choices(self, row: Row, choices: list[str]) -> None:
        """Name the variable of the choices; a column of the name with another content is kept."""
        if self._choices_name == VARIABLE and row.cells.get(VARIABLE, choices) != choices:
            self._choices_name = TEXTS_BESIDE_CHOICES
            for case in self._cases.found:
                case.variables[TEXTS_BESIDE_CHOICES] = case.variables[VARIABLE]

    def _choices(self, row: Row) -> list[str]:
        given = self._task.get("doc_to_choice")
        if isinstance(given, str):
            expression = given if _IDENTIFIER.match(given) else only_expression(given)
            given = value_of(expression, dict(row.cells)) if expression else None
        if not isinstance(given, list) or len(given) < 2:
            raise ReadError("choices_not_understood", self._place("doc_to_choice"))
        if len(given) > MAX_CHOICES:
            raise ReadError("too_many_choices", row.place(), limit=MAX_CHOICES)
        return [as_text(choice) for choice in given]

    def _letter(self, target: object, texts: list[str], row: Row) -> str:
        """Return the letter of an index, a letter or a choice's text."""
        text = as_text(target)
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(texts)]
        if text in texts and not isinstance(target, int):
            return letters[texts.index(text)]
        if text.isdecimal() and int(text) < len(texts):
            return letters[int(text)]
        if len(text) == 1 and text.upper() in letters:
            return text.upper()
        raise ReadError("answer_is_no_choice", row.place(), answer=text)

    def _choice_checks(self) -> list[Check]:
        checks = choice_checks(self._cases.found, self._choices_name)
        for check in [*checks, *(check for case in self._cases.found for check in case.checks)]:
            self._with_target(check)
        return checks

    def _with_target(self, check: Check) -> Check:
        if self._has_template():
            check.target = [as_text(self._task["doc_to_target"])]
        return check

    def _prompt(self) -> Prompt:
        messages: list[Message] = []
        description = as_text(self._task.get("description")).strip()
        if description:
            messages.append(Message("system", description))
        question = self._template("doc_to_text")
        if self._is_choice:
            listed = LETTERED.replace(" in choices ", f" in {self._choices_name} ")
            question = listed.replace("{{ question }}", question)
        for shot in self._shots():
            messages += [
                Message("user", _with_values(question, shot)),
                Message("assistant", _with_values(self._template("doc_to_target"), shot)),
            ]
        return Prompt(as_text(self._task.get("task")) or "task", [*messages, Message("user", question)])

    def _shots(self) -> list[dict[str, object]]:
        """Return the examples that the task gives; drawing them from a split is left out."""
        config = self._task.get("fewshot_config")
        samples = config.get("samples") if isinstance(config, Map) else None
        if isinstance(samples, Seq) and not self._is_choice:
            place = place_in(config, "samples")
            if len(samples) > _MAX_SHOTS:
                self._log.changed("fewer_examples", place, limit=_MAX_SHOTS, found=len(samples))
            return [dict(sample) for sample in islice(samples, _MAX_SHOTS) if isinstance(sample, Map)]
        if self._task.get("num_fewshot") or samples:
            self._log.left_out("examples_not_given", self._place("num_fewshot" if not samples else "fewshot_config"))
        return []

    def _parameters(self) -> dict[str, object]:
        parameters: dict[str, object] = {}
        given = self._task.get("generation_kwargs")
        for name, value in given.items() if isinstance(given, Map) else ():
            if name in _PARAMETERS:
                parameters[_PARAMETERS[name]] = value
            elif name == "do_sample":
                parameters.setdefault("temperature", 1.0 if value else 0.0)
            else:
                self._log.left_out("parameter_not_used", place_in(given, name), parameter=name)
        return parameters

    def _checks(self) -> list[Check]:
        """Return a check for each metric and each list of filters, each a metric of its own; the first one counts."""
        metrics = self._task.get("metric_list")
        checks: list[Check] = []
        unknown: dict[str, Place] = {}
        for name, steps in self._filters():
            for number, metric in enumerate(metrics if isinstance(metrics, Seq) else [{"metric": "exact_match"}]):
                kind = as_text(metric.get("metric")) if isinstance(metric, dict) else ""
                place = place_in(metrics, number)
                if kind not in _METRICS:
                    unknown[kind] = place
                    continue
                if (settings := self._options(metric, place)) is None:
                    continue
                check = Check(f"{kind}-{name}", _METRICS[kind], extract=steps, settings=settings)
                checks.append(self._with_target(check))
        for kind, place in unknown.items():
            self._log.left_out("check_not_supported", place, type=kind)
        if len(checks) > 1:
            place = self._place("filter_list" if "filter_list" in self._task else "metric_list")
            self._log.changed("first_check_counts", place, check=checks[0].key)
            for number, check in enumerate(checks):
                check.metric, check.weight = check.key, float(number == 0)
        return checks

    def _options(self, metric: object, place: Place) -> dict[str, object] | None:
        """Return the settings of a comparison; None if its patterns cannot be kept."""
        if not isinstance(metric, dict):
            return {}
        names = ("ignore_case", "ignore_punctuation", "ignore_numbers")
        settings: dict[str, object] = {name: True for name in names if metric.get(name) is True}
        patterns = metric.get("regexes_to_ignore")
        if isinstance(patterns, list):
            settings["ignore_patterns"] = [as_text(pattern) for pattern in patterns]
            if any(_groups(as_text(pattern)) is None for pattern in patterns):
                self._log.left_out("pattern_not_supported", place)
                return None
        for name in metric.keys() - {"metric", "aggregation", "higher_is_better", "regexes_to_ignore", *names}:
            self._log.left_out("key_not_used", place_in(metric, name), key=name)
        return settings

    def _filters(self) -> list[tuple[str, list[dict[str, object]]]]:
        listed = self._task.get("filter_list")
        filters: list[tuple[str, list[dict[str, object]]]] = []
        for number, entry in enumerate(listed if isinstance(listed, Seq) else []):
            functions = entry.get("filter") if isinstance(entry, Map) else None
            steps = [_step(function) for function in functions] if isinstance(functions, Seq) else [None]
            if not isinstance(entry, Map) or None in steps:
                self._log.left_out("filter_not_supported", place_in(listed, number))
                continue
            filters.append((as_text(entry.get("name")) or str(number), [step for step in steps if step]))
        return filters if filters or listed else [("none", [])]


def _step(function: object) -> dict[str, object] | None:
    """Return a step of extraction, {} for one that changes nothing here, None for an unknown one."""
    if not isinstance(function, Map):
        return None
    match function.get("function"):
        case "take_first":
            return {}
        case "remove_whitespace":
            return {}  # comparisons trim
        case "regex":
            selected = function.get("group_select", 0)
            if selected not in (0, -1) or function.get("fallback", "[invalid]") != "[invalid]":
                return None
            which = "last" if selected else "first"
            pattern = as_text(function.get("regex_pattern")) or r"#### (\-?[0-9\.\,]+)"
            groups = _groups(pattern)
            return None if groups is None else {
                "step": "regex", "pattern": pattern, "group": min(groups, 1), "which": which,
                **({"any_group": True} if groups > 1 else {}),
            }  # fmt: skip
    return None


def _groups(pattern: str) -> int | None:
    """Return how many groups a pattern has; None if RE2 refuses it."""
    options = re2.Options()
    options.log_errors = False
    try:
        return int(re2.compile(pattern, options).groups)
    except re2.error:
        return None


def _with_values(template: str, values: dict[str, object]) -> str:
    """Return a template whose variables are set to these values: an example is a document like any other."""
    literals = ", ".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
        if _IDENTIFIER.match(name) and (isinstance(value, str | bool) or is_number(value) or isinstance(value, list))
    )
    return f"{{% with {literals} %}}{template}{{% endwith %}}"
