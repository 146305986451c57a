from models_registry.admin import catalogue, limits, models, providers  # noqa: F401 (each registers its pages)
