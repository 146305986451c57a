import json
import re
from pathlib import Path

import pytest
import yaml
from django.conf import settings as site_settings

from arena_site.operations import metrics
from tests.arena_site.operations.alerts.promql import Call, Selector, parse, parts

DEPLOY: Path = site_settings.BASE_DIR / "deploy"
BOARDS = sorted((DEPLOY / "grafana/dashboards").glob("*.json"))
# Series that Prometheus makes itself.
OF_PROMETHEUS = {"up": {"job", "instance"}, "ALERTS": {"alertname", "alertstate", "severity"}}


def series() -> dict[str, set[str]]:
    """Return the labels of all series, also of those without samples."""
    found = dict(OF_PROMETHEUS)
    for family in metrics.ArenaCollector().collect():
        labels = set(family._labelnames)  # type: ignore[attr-defined]
        suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
        for suffix in suffixes:
            found[f"{family.name}{suffix}"] = labels | ({"le"} if suffix == "_bucket" else set())
    return found


def expressions() -> dict[str, tuple[str, str]]:
    """Return expressions and the texts that are filled in with their labels, by place."""
    (group,) = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"]
    found = {rule["alert"]: (rule["expr"], " ".join(rule["annotations"].values())) for rule in group["rules"]}
    for path in BOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                place = f"{path.name} {panel['title']} {target['refId']}"
                found[place] = target["expr"], target["legendFormat"]
    return found


@pytest.mark.django_db
def test_rules_and_dashboards_use_existing_series():
    known = series()
    for place, (text, filled) in expressions().items():
        used = list(parts(parse(text)))
        selectors = [part for part in used if isinstance(part, Selector)]
        assert {selector.name for selector in selectors} <= known.keys(), place
        labels = set.union(*(known[selector.name] for selector in selectors))
        for selector in selectors:
            assert {label for label, *_ in selector.matchers} <= known[selector.name], place
        groups = [set(part.by) for part in used if isinstance(part, Call) and part.name in ("sum", "max", "min")]
        assert all(group <= labels for group in groups), place
        shown = set.intersection(labels, *groups)
        assert set(re.findall(r"(?:\$labels\.|\{\{)(\w+)", filled)) <= shown, place


def test_rules_say_what_is_wrong_and_what_to_do():
    (group,) = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"]
    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"]) >= 10
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert all(sentence.endswith(".") for sentence in rule["annotations"].values()), rule["alert"]
        assert rule["annotations"].keys() == {"summary", "action"}


def test_dashboards_read_the_provided_source():
    (source,) = yaml.safe_load((DEPLOY / "grafana/datasources/prometheus.yml").read_text())["datasources"]
    boards = [json.loads(path.read_text()) for path in BOARDS]
    assert len({board["uid"] for board in boards}) == len(boards) == 2
    for board in boards:
        assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
        assert {panel["datasource"]["uid"] for panel in board["panels"]} == {source["uid"]}


def test_prometheus_reads_the_rules_beside_its_settings():
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    volumes = yaml.safe_load((site_settings.BASE_DIR / "docker-compose.yml").read_text())["services"]["prometheus"]
    assert config["rule_files"] == ["alerts.yml"]
    assert "./deploy/alerts.yml:/etc/prometheus/alerts.yml:ro" in volumes["volumes"]


@pytest.mark.parametrize("text", ["", "sum(", "up == ", "up 5", "up{job=", "rate(up[5x])", "1 + + 2"])
def test_broken_expression_is_refused(text: str):
    with pytest.raises(ValueError):
        parse(text)
