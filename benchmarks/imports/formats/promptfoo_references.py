"""References of a promptfoo file to its own parts: `$ref: "#/assertionTemplates/short"`."""

from benchmarks.imports.limits import MAX_DEPTH, MAX_NODES
from benchmarks.imports.readers.documents import Map, Seq, place_in
from benchmarks.imports.reading_log import Place, ReadError

# JSON Schemas have references of their own.
_VALUES = {"value", "$defs", "definitions"}


def with_references(document: Map) -> Map:
    """Return the document with the parts in place of references to them. Raises ReadError."""
    if not _has_references(document):
        return document
    resolved = _Resolver(document).resolved(document)
    assert isinstance(resolved, Map)
    return resolved


def _has_references(value: object) -> bool:
    if isinstance(value, Map):
        return "$ref" in value or any(map(_has_references, value.values()))
    return isinstance(value, Seq) and any(map(_has_references, value))


class _Resolver:
    def __init__(self, document: Map) -> None:
        self._document, self._nodes = document, 0

    def resolved(self, value: object, open_: tuple[str, ...] = ()) -> object:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise ReadError("too_many_nodes", getattr(value, "place", self._document.place), limit=MAX_NODES)
        if isinstance(value, Seq):
            sequence = Seq(value.place)
            sequence.extend(self.resolved(part, open_) for part in value)
            sequence.places = value.places
            return sequence
        if not isinstance(value, Map):
            return value
        if isinstance(value.get("$ref"), str):
            return self._referenced(value, open_)
        mapping = Map(value.place)
        for name, part in value.items():
            is_schema = name in _VALUES and isinstance(part, Map) and "$ref" not in part
            mapping[name], mapping.places[name] = (
                (part if is_schema else self.resolved(part, open_)),
                place_in(value, name),
            )
        return mapping

    def _referenced(self, value: Map, open_: tuple[str, ...]) -> object:
        """Return the part that `$ref` names; fields beside it come before those of the part."""
        reference, place = str(value["$ref"]), place_in(value, "$ref")
        if reference in open_ or len(open_) >= MAX_DEPTH:
            raise ReadError("alias_of_itself", place)
        part = self.resolved(self._part(reference, place), (*open_, reference))
        others = [name for name in value if name != "$ref"]
        if not others or not isinstance(part, Map):
            return part
        mapping = Map(part.place)
        mapping.update(part)
        mapping.places = dict(part.places)
        for name in others:
            mapping[name], mapping.places[name] = self.resolved(value[name], open_), place_in(value, name)
        return mapping

    def _part(self, reference: str, place: Place) -> object:
        if not reference.startswith("#/"):
            raise ReadError("reference_not_found", place, reference=reference)
        part: object = self._document
        for token in reference[2:].split("/"):
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(part, Map) and name in part:
                part = part[name]
            elif isinstance(part, Seq) and name.isdecimal() and int(name[:9]) < len(part):
                part = part[int(name)]
            else:
                raise ReadError("reference_not_found", place, reference=reference)
        return part
