"""No module of the site imports itself through others at run time, not even inside a function."""

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import grimp

APPS = ["common", "accounts", "models_registry", "uploads", "battles", "leaderboard", "arena_site"]


def find_cycle(imports: dict[str, set[str]]) -> list[str]:
    """Return the modules of one import cycle in order, the first one again at the end; [] if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_modules_have_no_import_cycle():
    graph = grimp.build_graph(*APPS, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert sum(map(len, imports.values())) > 1000  # the graph was read
    assert find_cycle(imports) == []


def test_import_cycle_is_found_in_order():
    cycle = find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert {*pairwise(cycle)} == {("a", "b"), ("b", "c"), ("c", "a")}
