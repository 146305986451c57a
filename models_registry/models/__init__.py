from models_registry.models.breakers import Breaker
from models_registry.models.budgets import Budget
from models_registry.models.catalogues import Catalogue, CatalogueChange
from models_registry.models.inquiries import Inquiry
from models_registry.models.language_models import TEAM_SEPARATOR, LanguageModel, LanguageModelQuerySet
from models_registry.models.ledger import Charge, PaidCallsHalt, SpendingDay
from models_registry.models.limits import ModelLimit
from models_registry.models.prices import Price
from models_registry.models.profiles import ModelIcon, ModelProfile
from models_registry.models.providers import LOCAL_MODEL_ENDPOINT, Provider
from models_registry.models.repairs import RequestRepair

__all__ = [
    "LOCAL_MODEL_ENDPOINT",
    "TEAM_SEPARATOR",
    "Breaker",
    "Budget",
    "Catalogue",
    "CatalogueChange",
    "Charge",
    "Inquiry",
    "LanguageModel",
    "LanguageModelQuerySet",
    "ModelIcon",
    "ModelLimit",
    "ModelProfile",
    "PaidCallsHalt",
    "Price",
    "Provider",
    "RequestRepair",
    "SpendingDay",
]
