"""Who may be drawn now, looked up once for everybody who asks within a second."""

from common.fresh import Fresh
from models_registry.ledger import PaidCallsHalt
from models_registry.models import Breaker, LanguageModel, Price, Provider

# A hundred battles that begin at once would otherwise read all models, prices and breakers a hundred times.
looked_up = Fresh(
    lambda: LanguageModel.objects.drawable(),
    for_s=1,
    changed_by=(LanguageModel, Provider, Price, Breaker, PaidCallsHalt),
)


def drawable() -> list[LanguageModel]:
    """LanguageModel.objects.drawable(), at most a second old; what this process changes shows at once.

    The models are shared by the process's threads: nobody changes them.
    """
    return list(looked_up())
