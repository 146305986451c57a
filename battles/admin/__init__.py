from battles.admin import categories, evidence, moderation  # noqa: F401 (each registers its pages)
