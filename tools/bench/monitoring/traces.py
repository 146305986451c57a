"""Cost of traces: the same battles without them, with one in twenty traced, and with a collector that hangs."""

from collections import Counter

from tests.worlds.otlp_sink import OtlpSink
from tools.bench.arena import MEASURED_PARTS, Bench
from tools.bench.load import BattleTiming, percentile
from tools.bench.scenarios import print_row

ROUNDS = 3


def traces(bench: Bench) -> None:
    print(f"Traces, {bench.at_once} battles of 2 × 200 tokens at 50 tokens/s, {ROUNDS} rounds")
    sink = OtlpSink()
    seconds: Counter[str] = Counter()
    timings: dict[str, list[BattleTiming]] = {"off": [], "taking": [], "hanging": []}
    try:
        for _ in range(ROUNDS):
            for state, of_state in timings.items():  # in turn, because the machine is not equally busy all the time
                sink.behaviour = state
                _restart(bench, {} if state == "off" else {"OTEL_EXPORTER_OTLP_ENDPOINT": sink.url})
                bench.battles(10)
                of_round, spent, _ = bench.battles(bench.at_once, over_s=2)
                of_state += of_round
                seconds[state] += sum(spent[part] for part in MEASURED_PARTS)
    finally:
        sink.stop()
        _restart(bench, {})
    number = bench.at_once * ROUNDS
    print_row("failed", str(sum(bool(timing.error) for each in timings.values() for timing in each)), "bar 0")
    print_row("spans at the collector", str(len(sink.spans)))
    print_row("CPU s of one battle, without traces", f"{seconds['off'] / number:.4f}")
    print_row("CPU of one battle, 5 % traced, ratio", f"{seconds['taking'] / seconds['off']:.3f}", "bar 1.03")
    print_row("CPU of one battle, the collector hangs, ratio", f"{seconds['hanging'] / seconds['off']:.3f}")
    off, hanging = (percentile([timing.end for timing in timings[state]], 0.5) for state in ("off", "hanging"))
    print_row("time of a battle, the collector hangs, ratio of medians", f"{hanging / off:.3f}", "bar 1.02")


def _restart(bench: Bench, environment: dict[str, str]) -> None:
    bench.arena.stop()
    bench.arena.environment.pop("OTEL_EXPORTER_OTLP_ENDPOINT", None)
    bench.arena.environment |= environment
    bench.arena.start()
