from accounts.admin import limits, people, teams, users  # noqa: F401 (each registers its pages)
