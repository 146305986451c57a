from routing.admin import decisions, evaluations, rules, snapshots  # noqa: F401 (each registers its pages)
