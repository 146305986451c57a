from collections import Counter
from datetime import timedelta
from math import ceil

import pytest

from metrics.catalogue import BY_NAME, Bucket
from metrics.charts import draw
from metrics.histograms import bucket_of, middle, quantile_bucket
from metrics.models import MetricDay
from metrics.series import SeriesQuery, read_series, start_of_bucket, today, wilson


def test_middle_of_a_bucket_is_at_most_six_percent_off():
    for value in (1, 10, 137, 4_000, 180_000):
        assert abs(middle(bucket_of(value)) / value - 1) <= 0.06


@pytest.mark.django_db
@pytest.mark.parametrize("bucket", Bucket)
def test_histograms_of_days_have_the_quantile_of_all_values(bucket: Bucket):
    values = [*range(1, 500, 7), *range(3, 90_000, 801)]
    last = today() - timedelta(days=40)
    days = [last - timedelta(days=ago) for ago in range(40)]
    of_buckets: dict[str, list[int]] = {}
    for number, day in enumerate(days):
        part = values[number :: len(days)]
        pairs = [number for pair in Counter(map(bucket_of, part)).items() for number in pair]
        MetricDay.objects.create(metric="first_token", day=day, n=len(part), total=sum(part), buckets=pairs)
        of_buckets.setdefault(start_of_bucket(day, bucket).isoformat(), []).extend(part)
    for name, fraction in (("first_token_p50", 0.5), ("first_token_p95", 0.95)):
        series = read_series(SeriesQuery(BY_NAME[name], days[-1], last, bucket))
        points = {point["at"]: point["value"] for line in series["series"] for point in line["points"]}
        assert points == {
            at: middle(bucket_of(sorted(part)[ceil(fraction * len(part)) - 1])) for at, part in of_buckets.items()
        }


def test_no_values_have_no_quantile():
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
