from routing.admin import decisions, rules, snapshots  # noqa: F401 (each registers its pages)
