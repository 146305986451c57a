"""Documents with the position of every node: YAML and JSON of configurations."""

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]

import yaml

from benchmarks.imports.limits import MAX_DEPTH, MAX_DOCUMENT_BYTES, MAX_NODES
from benchmarks.imports.readers.encoding import check_utf8, place_of_character
from benchmarks.imports.readers.values import check_value
from benchmarks.imports.reading_log import NOWHERE, Place, ReadError
from benchmarks.imports.yaml_scalars import PREFIX, RESOLVERS


class Map(dict[str, object]):
    """Mapping with the places of its values."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.places: dict[str, Place] = {}


class Seq(list[object]):
    """Sequence with the places of its values."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.places: list[Place] = []


def place_in(container: object, name: str | int) -> Place:
    if isinstance(container, Map) and isinstance(name, str):
        return container.places.get(name, container.place)
    if isinstance(container, Seq) and isinstance(name, int) and name < len(container.places):
        return container.places[name]
    return getattr(container, "place", NOWHERE)


def read_document(content: bytes, file: str = "", *, is_yaml: bool = False) -> object:
    """Return the value of a YAML or JSON document. Raises ReadError."""
    if len(content) > MAX_DOCUMENT_BYTES:
        raise ReadError("document_too_large", Place(0, 0, file), limit=MAX_DOCUMENT_BYTES)
    check_utf8(content, file)
    text = content.decode("utf-8-sig")
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _JsonReader(text, file).document()
        except ReadError as error:
            if error.code != "not_json" or not is_yaml:
                raise
    return _read_yaml(text, file)


class _Loader(yaml.CSafeLoader):
    yaml_implicit_resolvers = RESOLVERS


def _read_yaml(text: str, file: str) -> object:
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(mark.line + 1, mark.column + 1, file) if mark else Place(0, 0, file)
        raise ReadError("not_yaml", place, problem=error.problem or "") from error
    except yaml.YAMLError as error:
        raise ReadError("not_yaml", Place(0, 0, file), problem=str(error)) from error
    except RecursionError as error:
        raise ReadError("too_deep", Place(0, 0, file)) from error
    if node is None:
        raise ReadError("empty_file", Place(0, 0, file))
    return _YamlReader(file).value(node, 0)


class _YamlReader:
    """Aliased nodes become the same value; `MAX_NODES` counts them each time."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._values: dict[int, tuple[object, int]] = {}
        self._open: set[int] = set()
        self._nodes = 0

    def value(self, node: yaml.Node, depth: int) -> object:
        place = self._place(node)
        if depth > MAX_DEPTH:
            raise ReadError("too_deep", place, limit=MAX_DEPTH)
        if id(node) in self._open:
            raise ReadError("alias_of_itself", place)
        if id(node) in self._values:
            value, nodes = self._values[id(node)]
            self._count(nodes, place)
            return value
        before = self._nodes
        self._count(1, place)
        self._open.add(id(node))
        value = self._new_value(node, place, depth)
        self._open.remove(id(node))
        self._values[id(node)] = (value, self._nodes - before)
        return value

    def _count(self, nodes: int, place: Place) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise ReadError("too_many_nodes", place, limit=MAX_NODES)

    def _new_value(self, node: yaml.Node, place: Place, depth: int) -> object:
        kind = node.tag.removeprefix(PREFIX)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._map(node, place, depth)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            sequence = Seq(place)
            for part in node.value:
                sequence.places.append(self._place(part))
                sequence.append(self.value(part, depth + 1))
            return sequence
        if isinstance(node, yaml.ScalarNode) and kind in ("str", "null", "bool", "int", "float"):
            value = _scalar(kind, node.value, place)
            check_value(value, place)
            return value
        raise ReadError("yaml_tag", place, tag=node.tag)

    def _map(self, node: yaml.MappingNode, place: Place, depth: int) -> Map:
        mapping = Map(place)
        merged: list[object] = []
        for key, part in node.value:
            if key.tag == f"{PREFIX}merge":
                value = self.value(part, depth + 1)
                merged += value if isinstance(value, Seq) else [value]
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise ReadError("key_is_no_text", self._place(key))
            if not key.tag.startswith(PREFIX):
                raise ReadError("yaml_tag", self._place(key), tag=key.tag)
            if key.value in mapping:
                raise ReadError("duplicate_key", self._place(key), name=key.value)
            check_value(key.value, self._place(key))
            mapping.places[key.value] = self._place(part)
            mapping[key.value] = self.value(part, depth + 1)
        for other in merged:
            if not isinstance(other, Map):
                raise ReadError("not_yaml", place, problem="<< needs a mapping")
            for name, value in other.items():
                if name not in mapping:
                    mapping.places[name] = other.places[name]
                    mapping[name] = value
        return mapping

    def _place(self, node: yaml.Node) -> Place:
        return Place(node.start_mark.line + 1, node.start_mark.column + 1, self._file)


def _scalar(kind: str, text: str, place: Place) -> object:
    try:
        match kind:
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text)
            case "float":
                return float(re.sub(r"\.(?=inf|nan)", "", text.lower()))
    except ValueError as error:
        raise ReadError("number_too_large", place) from error
    return text


_SPACE = re.compile(r"[ \t\r\n]*")
_LITERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")
_CONSTANT = re.compile(r"NaN|-?Infinity")


class _JsonReader:
    """Recursive parser: json's own knows no positions."""

    def __init__(self, text: str, file: str) -> None:
        self._text, self._file = text, file
        self._line, self._line_start, self._at = 1, 0, 0

    def document(self) -> object:
        value = self._value(0)
        self._skip()
        if self._at < len(self._text):
            raise self._wrong("Extra data")
        return value

    def _value(self, depth: int) -> object:
        self._skip()
        place = self._place()
        if depth > MAX_DEPTH:
            raise ReadError("too_deep", place, limit=MAX_DEPTH)
        match self._text[self._at : self._at + 1]:
            case "{":
                return self._map(Map(place), depth)
            case "[":
                return self._seq(Seq(place), depth)
            case '"':
                value: object = self._string()
            case _:
                value = self._literal()
        check_value(value, place)
        return value

    def _map(self, mapping: Map, depth: int) -> Map:
        self._at += 1
        while not self._ends("}", is_first=not mapping):
            place = self._place()
            if self._text[self._at : self._at + 1] != '"':
                raise self._wrong("Expecting property name enclosed in double quotes")
            name = self._string()
            check_value(name, place)
            if name in mapping:
                raise ReadError("duplicate_key", place, name=name)
            self._skip()
            if self._text[self._at : self._at + 1] != ":":
                raise self._wrong("Expecting ':' delimiter")
            self._at += 1
            self._skip()
            mapping.places[name] = self._place()
            mapping[name] = self._value(depth + 1)
        return mapping

    def _seq(self, sequence: Seq, depth: int) -> Seq:
        self._at += 1
        while not self._ends("]", is_first=not sequence):
            sequence.places.append(self._place())
            sequence.append(self._value(depth + 1))
        return sequence

    def _ends(self, bracket: str, *, is_first: bool) -> bool:
        self._skip()
        if self._text[self._at : self._at + 1] == bracket:
            self._at += 1
            return True
        if not is_first:
            if self._text[self._at : self._at + 1] != ",":
                raise self._wrong("Expecting ',' delimiter")
            self._at += 1
            self._skip()
        return False

    def _string(self) -> str:
        try:
            text, self._at = scanstring(self._text, self._at + 1, True)
        except json.JSONDecodeError as error:
            raise ReadError("not_json", Place(error.lineno, error.colno, self._file), problem=error.msg) from error
        return str(text)

    def _literal(self) -> object:
        if constant := _CONSTANT.match(self._text, self._at):
            raise ReadError("not_finite", self._place(), name=constant.group())
        match = _LITERAL.match(self._text, self._at)
        if match is None:
            raise self._wrong("Expecting value")
        place = self._place()
        self._at = match.end()
        try:
            value: object = json.loads(match.group())
        except ValueError as error:
            raise ReadError("number_too_large", place) from error
        return value

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _place(self) -> Place:
        # Moves forward only, so that the lines of a file are counted once.
        lines = self._text.count("\n", self._line_start, self._at)
        if lines:
            self._line += lines
            self._line_start = self._text.rfind("\n", 0, self._at) + 1
        return Place(self._line, self._at - self._line_start + 1, self._file)

    def _wrong(self, problem: str) -> ReadError:
        return ReadError("not_json", place_of_character(self._text, self._at, self._file), problem=problem)
