from models_registry.admin import budgets, catalogue, models, providers  # noqa: F401 (each registers its pages)
