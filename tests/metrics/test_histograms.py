from collections import Counter

from metrics.charts import draw
from metrics.histograms import bucket_of, merge, middle, quantile_bucket
from metrics.series import wilson


def test_middle_of_a_bucket_is_at_most_six_percent_off():
    for value in (1, 10, 137, 4_000, 180_000):
        assert abs(middle(bucket_of(value)) / value - 1) <= 0.06


def test_merged_histograms_have_the_quantile_of_all_values():
    values = [*range(1, 500, 7), *range(3, 90_000, 801)]
    parts = [Counter(map(bucket_of, values[start::3])) for start in range(3)]
    merged = merge([number for pair in part.items() for number in pair] for part in parts)
    for fraction in (0.05, 0.5, 0.95):
        exact = sorted(values)[round(fraction * len(values) + 0.4999) - 1]
        assert quantile_bucket(merged, fraction) == bucket_of(exact)
    assert quantile_bucket(Counter(), 0.5) is None


def test_wilson_interval_of_a_share():
    assert [round(bound, 4) for bound in wilson(0.5, 10)] == [0.2366, 0.7634]
    assert wilson(0, 4)[0] == 0


def test_gap_in_a_line_is_not_drawn_over():
    drawing = draw([[1, 2, None, 3, 4]], unfinished=[1])
    assert drawing.lines[0].path.count("M") == 1
    assert drawing.lines[0].dashed
    assert draw([[None, 5, None]]).lines[0].dots
    assert draw([]).lines == []
