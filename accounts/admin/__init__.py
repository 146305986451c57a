from accounts.admin import issuer_groups, limits, people, users  # noqa: F401 (each registers its pages)
