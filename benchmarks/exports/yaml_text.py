import yaml

from benchmarks.imports.yaml_scalars import RESOLVERS


class _Dumper(yaml.CSafeDumper):
    """Quotes what YAML 1.1 or 1.2 would not read as a text."""

    yaml_implicit_resolvers = {
        first: [*yaml.CSafeDumper.yaml_implicit_resolvers.get(first, []), *RESOLVERS.get(first, [])]
        for first in {*yaml.CSafeDumper.yaml_implicit_resolvers, *RESOLVERS}
    }

    def ignore_aliases(self, data: object) -> bool:
        return True


def as_yaml(value: object) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def as_comment(lines: list[str]) -> str:
    return "".join(f"# {' '.join(line.split())}\n" for line in lines)
