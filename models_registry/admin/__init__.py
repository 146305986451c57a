from models_registry.admin import catalogue, models, providers  # noqa: F401 (each registers its pages)
