"""promptfoo's configuration: prompts, providers, tests with variables and assertions."""

import posixpath
from collections.abc import Iterator
from itertools import islice, product

from benchmarks.imports.building import Cases
from benchmarks.imports.content import Case, CaseFile, Check, Imported, Reply
from benchmarks.imports.formats.assertions import read_assertions
from benchmarks.imports.formats.fields import FATAL, case_file, for_each
from benchmarks.imports.formats.promptfoo_prompts import read_prompts, read_providers, refuse_environment
from benchmarks.imports.formats.promptfoo_references import with_references
from benchmarks.imports.formats.tables import TableCases, with_affixes
from benchmarks.imports.limits import MAX_CASES
from benchmarks.imports.readers.documents import Map, Seq, place_in
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import Place, ReadError
from benchmarks.imports.source import Source
from uploads.reading.kinds import BINARY_DOCUMENTS
from uploads.reading.sniffing import detect_type

_USED = {
    "prompts", "providers", "targets", "tests", "defaultTest", "scenarios", "evaluateOptions", "description",
    "metadata", "$schema", "assertionTemplates",
}  # fmt: skip
_TEST_FIELDS = {"description", "vars", "assert", "threshold", "metadata", "options", "providerOutput"}
_OPTION_FIELDS = {"prefix", "suffix", "disableDefaultAsserts", "disableVarExpansion"}
_TABLES = (".csv", ".tsv", ".xlsx", ".jsonl", ".parquet")
_CODE_FILES = (".js", ".ts", ".mjs", ".cjs", ".py", ".rb")


def read(source: Source) -> Imported:
    document = source.document()
    if not isinstance(document, Map):
        raise ReadError("no_configuration", Place(0, 0, source.main_in_report))
    return _Configuration(source, with_references(document)).read()


class _Configuration:
    def __init__(self, source: Source, document: Map) -> None:
        self._source, self._log, self._document = source, source.log, document
        self._cases = Cases(source.log)
        self._uses_affixes = False
        self._open_files: set[str] = set()
        default = document.get("defaultTest")
        if isinstance(default, str):
            default = self._load(default, place_in(document, "defaultTest"))
        self._default = default if isinstance(default, Map) else Map(place_in(document, "defaultTest"))
        self._shared_variables: dict[str, object] = {}
        self._default_checks: list[Check] = []
        self._must_copy_default_checks = False

    def read(self) -> Imported:
        for name in self._document.keys() - _USED:
            self._log.left_out("key_not_used", place_in(self._document, name), key=name)
        prompts = read_prompts(self._source, self._document)
        models = read_providers(self._source, self._document)
        self._leave_out(self._default, "defaultTest")
        self._shared_variables = self._variables(self._default)
        self._default_checks = self._assertions(self._default, "default-")
        self._tests(self._document.get("tests"), place_in(self._document, "tests"))
        self._scenarios()
        if not self._document.get("tests") and "scenarios" not in self._document:
            self._add(Map(self._default.place), dict(self._shared_variables))
        if self._uses_affixes:
            with_affixes(prompts, self._cases.found)
        # A test that disables the default checks: the other cases have copies of them.
        version_checks = [] if self._must_copy_default_checks else self._default_checks
        template = self._cases.template(
            self._source.request.name, prompts, version_checks,
            description=as_text(self._document.get("description")),
        )  # fmt: skip
        options = self._document.get("evaluateOptions")
        options = options if isinstance(options, Map) else Map(self._document.place)
        for name in options.keys() - {"repeat", "maxConcurrency"}:
            self._log.left_out("key_not_used", place_in(options, name), key=f"evaluateOptions.{name}")
        return Imported(
            "promptfoo", [], {}, template, self._cases.replies, models,
            repeats=_whole(options.get("repeat")), concurrency=_whole(options.get("maxConcurrency")),
        )  # fmt: skip

    def _assertions(self, test: Map, prefix: str = "") -> list[Check]:
        return read_assertions(test.get("assert"), self._load, self._log, prefix)

    def _load(self, reference: str, place: Place) -> object:
        path = self._source.find(reference, self._source.main, place)
        if path.lower().endswith(_CODE_FILES):
            raise ReadError("code_not_run", place, file=reference)
        if path.lower().endswith((".yaml", ".yml", ".json")):
            return self._source.document(path)
        return self._source.text(path).decode("utf-8", "replace")

    def _tests(self, tests: object, place: Place, shared: Map | None = None) -> None:
        """Add the cases of a list, of a file, or of a list of both."""
        if isinstance(tests, str):
            self._tests_of_file(tests, place, shared)
        elif isinstance(tests, Seq):
            for number, test in enumerate(tests):
                if isinstance(test, str):
                    self._tests_of_file(test, place_in(tests, number), shared)
                elif isinstance(test, Map) and "path" not in test:
                    self._try_test(test, shared)
                else:
                    self._log.refuse("test_not_understood", place_in(tests, number))
        elif tests is not None:
            self._log.refuse("test_not_understood", place)

    def _tests_of_file(self, reference: str, place: Place, shared: Map | None) -> None:
        if reference in self._open_files:
            self._log.refuse("file_includes_itself", place, file=reference)
            return
        self._open_files.add(reference)
        try:
            if reference.lower().endswith(_TABLES):
                self._tests_of_table(self._source.find(reference, self._source.main, place), shared)
            else:
                self._tests(self._load(reference, place), place, shared)
        except ReadError as error:
            if error.code in FATAL:
                raise
            self._log.refuse_error(error)
        finally:
            self._open_files.remove(reference)

    def _tests_of_table(self, path: str, shared: Map | None) -> None:
        variables = self._shared_variables | (self._variables(shared) if shared else {})
        table = TableCases(self._source, guess=False)
        for_each(self._source.rows(path), table.add, self._log)
        keys: dict[str, str] = {}
        for case in table.cases.found:
            own = {name: self._value(name, value, Place(0, 0, path)) for name, value in case.variables.items()}
            case.variables, case.files = _without_files(variables | own)
            old_key = case.key
            self._cases.add_titled(case, Place(0, 0, path))
            keys[old_key] = case.key
        for reply in table.cases.replies:
            self._cases.reply(Reply(reply.entrant, keys[reply.case_key], reply.text), Place(0, 0, path))
        self._uses_affixes |= table.uses_affixes

    def _try_test(self, test: Map, shared: Map | None) -> None:
        try:
            self._test(test, shared)
        except ReadError as error:
            if error.code in FATAL:
                raise
            self._log.refuse_error(error)

    def _test(self, test: Map, shared: Map | None) -> None:
        variables = self._variables(test)
        if shared is not None:
            variables = self._variables(shared) | variables
            test = _merged(shared, test)
        self._leave_out(test, "tests")
        checks = self._assertions(test)
        options = test.get("options")
        if isinstance(options, Map) and options.get("disableVarExpansion") is True:
            self._add(test, self._shared_variables | variables, checks)
            return
        for combination in _combinations(self._shared_variables | variables, test.place):
            self._add(test, combination, checks)

    def _variables(self, test: Map) -> dict[str, object]:
        """Return variables with the contents of files in their places."""
        variables = test.get("vars")
        if isinstance(variables, str):
            variables = self._load(variables, place_in(test, "vars"))
        if variables is None:
            return {}
        if not isinstance(variables, Map):
            raise ReadError("variables_not_understood", place_in(test, "vars"))
        values: dict[str, object] = {}
        for name, value in variables.items():
            place = place_in(variables, name)
            if name == "_conversation":
                raise ReadError("conversation_not_supported", place)
            refuse_environment(value, place)
            values[name] = self._value(name, value, place)
        return values

    def _value(self, name: str, value: object, place: Place) -> object:
        """Return a variable's value: a text file's text, and other files as a CaseFile."""
        if isinstance(value, list):
            return [self._value(name, part, place) for part in value]
        if not isinstance(value, str) or not value.startswith("file://"):
            return value
        path = self._source.find(value, self._source.main, place)
        content = self._source.files[path]
        file_type = detect_type(content, path)
        if file_type is not None and (file_type.kind == "image" or file_type.media_type in BINARY_DOCUMENTS):
            return case_file(name, posixpath.basename(path), content, place)
        return self._load(value, place)

    def _add(self, test: Map, variables: dict[str, object], checks: list[Check] | None = None) -> None:
        options, defaults = test.get("options"), self._default.get("options")
        merged = {**(defaults if isinstance(defaults, Map) else {}), **(options if isinstance(options, Map) else {})}
        for name in ("prefix", "suffix"):
            if merged.get(name):
                self._uses_affixes = True
                variables[f"prompt_{name}"] = as_text(merged[name])
        own, shared = test.get("metadata"), self._default.get("metadata")
        metadata = {**(shared if isinstance(shared, Map) else {}), **(own if isinstance(own, Map) else {})}
        values, files = _without_files(variables)
        case = Case(as_text(test.get("description")), values, checks=list(checks or []), metadata=metadata, files=files)
        tags = metadata.get("tags")
        case.tags = [as_text(tag) for tag in tags] if isinstance(tags, list) else []
        case.threshold = _number(test.get("threshold", self._default.get("threshold")))
        if merged.get("disableDefaultAsserts"):
            self._copy_default_checks()
        elif self._must_copy_default_checks:
            case.checks = self._default_checks + case.checks
        self._cases.add_titled(case, test.place)

    def _copy_default_checks(self) -> None:
        if not self._must_copy_default_checks:
            self._must_copy_default_checks = True
            for case in self._cases.found:
                case.checks = self._default_checks + case.checks

    def _scenarios(self) -> None:
        """Add every test of a scenario with every of its configurations."""
        scenarios = self._document.get("scenarios")
        for number, scenario in enumerate(scenarios if isinstance(scenarios, Seq) else []):
            place = place_in(scenarios, number)
            config = scenario.get("config") if isinstance(scenario, Map) else None
            if not isinstance(scenario, Map) or not isinstance(config, Seq):
                self._log.refuse("scenario_not_understood", place)
                continue
            for shared in config:
                if isinstance(shared, Map):
                    tests = scenario.get("tests")
                    if tests is None:
                        self._try_test(Map(place), shared)
                    self._tests(tests, place, shared)
                else:
                    self._log.refuse("scenario_not_understood", place)

    def _leave_out(self, test: Map, where: str) -> None:
        for name in test.keys() - _TEST_FIELDS:
            self._log.left_out("key_not_used", place_in(test, name), key=f"{where}.{name}")
        options = test.get("options")
        for name in (options.keys() - _OPTION_FIELDS) if isinstance(options, Map) else ():
            self._log.left_out("key_not_used", place_in(options, name), key=f"{where}.options.{name}")


def _without_files(variables: dict[str, object]) -> tuple[dict[str, object], list[CaseFile]]:
    files = [value for value in variables.values() if isinstance(value, CaseFile)]
    return {name: value for name, value in variables.items() if not isinstance(value, CaseFile)}, files


def _merged(shared: Map, test: Map) -> Map:
    """Return a scenario's test with the fields of its configuration, but for the variables."""
    merged = Map(test.place)
    for part in (shared, test):
        for name in part.keys() - {"vars"}:
            value, old = part[name], merged.get(name)
            if isinstance(value, Map) and isinstance(old, Map):
                both = Map(value.place)
                both.update(old | value)
                both.places = old.places | value.places
                value = both
            elif isinstance(value, Seq) and isinstance(old, Seq):
                joined = Seq(value.place)
                joined.extend([*old, *value])
                joined.places = old.places + value.places
                value = joined
            merged[name], merged.places[name] = value, place_in(part, name)
    return merged


def _combinations(variables: dict[str, object], place: Place) -> Iterator[dict[str, object]]:
    """Yield the product of lists of texts or files, as promptfoo does. Raises ReadError."""
    lists = {
        name: value
        for name, value in variables.items()
        if isinstance(value, list) and value and isinstance(value[0], str | CaseFile)
    }
    for number, chosen in enumerate(islice(product(*lists.values()), MAX_CASES + 1)):
        if number >= MAX_CASES:
            raise ReadError("too_many_cases", place, limit=MAX_CASES)
        yield variables | dict(zip(lists, chosen, strict=True))


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
