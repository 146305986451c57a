from battles.admin import categories, evidence, moderation, operator_texts  # noqa: F401 (each registers its pages)
