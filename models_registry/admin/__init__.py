from models_registry.admin import (  # noqa: F401 (each registers its pages)
    budgets,
    catalogue,
    limits,
    models,
    providers,
    repairs,
)
