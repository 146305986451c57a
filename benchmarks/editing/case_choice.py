from benchmarks.models import Case, TemplateVersion


def case_at(version: TemplateVersion, number: int) -> tuple[int, int, Case | None]:
    """Return the number of the nearest case, from 1, the number of cases, and the case; None without cases."""
    total = version.cases.count()
    number = max(1, min(number, total))
    return number, total, version.cases.order_by("position")[number - 1 : number].first()
