from accounts.admin import limits, people, users  # noqa: F401 (each registers its pages)
