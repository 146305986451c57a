from accounts.admin import issuer_groups, limits, people, teams, users  # noqa: F401 (each registers its pages)
