"""Scorers of other packages: entry points of the group `arena.scorers`. Imported in the child only."""

from importlib.metadata import entry_points
from typing import NoReturn

import msgspec

from benchmarks.scoring.ports import PORT_VERSION, Scorer
from benchmarks.scoring.refusals import Refusal
from benchmarks.scoring.registry import BUILT_IN

GROUP = "arena.scorers"


class PluginState(msgspec.Struct, frozen=True):
    """error: why the plug-in is off; empty if it is loaded."""

    name: str
    distribution: str = ""
    distribution_version: str = ""
    version: str = ""
    error: str = ""


class Plugins:
    """Plug-ins that the operator names, each loaded when it is first needed."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._loaded: dict[str, Scorer] = {}

    def find(self, name: str) -> Scorer:
        """Raises ValueError for an unknown scorer or a plug-in that fails to load."""
        if name not in self._names:
            raise Refusal("scorer_unknown", field="scorer", name=repr(name[:100]))
        if name not in self._loaded:
            self._loaded[name] = _load(name)
        return self._loaded[name]

    def states(self) -> list[PluginState]:
        return [self._state(name) for name in self._names]

    def _state(self, name: str) -> PluginState:
        entries = entry_points(group=GROUP, name=name)
        distribution = next((entry.dist for entry in entries if entry.dist is not None), None)
        package = (distribution.name, distribution.version) if distribution else ("", "")
        try:
            return PluginState(name, *package, version=self.find(name).version)
        except ValueError as error:
            return PluginState(name, *package, error=str(error))


def _load(name: str) -> Scorer:
    def refuse(reason: str) -> NoReturn:
        raise ValueError(f"the plug-in {name} {reason}")

    entries = entry_points(group=GROUP, name=name)
    if name in BUILT_IN:
        refuse("has the name of a built-in scorer")
    if len(entries) != 1:
        refuse("is in several packages" if entries else "is not installed")
    try:
        loaded = next(iter(entries)).load()
        scorer: Scorer = loaded() if isinstance(loaded, type) else loaded
        version = getattr(scorer, "port_version", None)
        if version != PORT_VERSION:
            refuse(f"is made for version {version} of the port, not {PORT_VERSION}")
        if scorer.name != name or not issubclass(scorer.settings, msgspec.Struct) or not callable(scorer.score):
            refuse("is no scorer of this name")
        scorer.load()
    except ValueError:
        raise
    except Exception as error:  # a plug-in raises anything
        refuse(f"does not load: {type(error).__name__}: {error}")
    return scorer
