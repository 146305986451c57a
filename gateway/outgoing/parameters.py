"""Parameters of a request as one model's provider receives them."""

from decimal import Decimal

from django.utils.crypto import salted_hmac

from common.payload_types import JsonObject
from gateway.parsing.chat import ChatBody
from models_registry.models import LanguageModel
from models_registry.providers import passing


def parameters_for(chat: ChatBody, model: LanguageModel, *, token: int) -> JsonObject:
    """Return the parameters besides the cap. token: id of the caller's token."""
    provider = model.provider
    parameters = dict(chat.parameters)
    parameters |= {name: value for name, value in chat.others.items() if name in provider.passed_names}
    for tool in _priced_tools(chat, model):
        if "web_search_options" in tool:
            parameters["web_search_options"] = tool["web_search_options"]
        else:
            parameters["tools"] = [*parameters.get("tools", []), tool]
    dialect = provider.dialect
    for name in sorted(dialect.identities & chat.identities.keys()):
        given = chat.identities[name] if name == "prompt_cache_key" else ""
        parameters[name] = _digest(f"{token}:{provider.pk}:{name}:{given}")
    return parameters | ({"store": False} if dialect.can_store else {})


def fee_of(chat: ChatBody, model: LanguageModel) -> Decimal:
    """Return US dollars that tools of the provider may cost."""
    prices = model.provider.server_tool_prices
    return sum((Decimal(str(prices[str(tool["type"])])) for tool in _priced_tools(chat, model)), Decimal(0))


def dropped_for(chat: ChatBody, model: LanguageModel) -> list[str]:
    """Return the names of fields that the model does not receive."""
    provider = model.provider
    priced = _priced_tools(chat, model)
    others = [name for name in chat.others if name not in provider.passed_names]
    tools = [_name(tool) for tool in chat.server_tools if tool not in priced]
    return [*chat.dropped, *others, *tools, *provider.dialect.unsent(model.upstream_name, chat.parameters)]


def _priced_tools(chat: ChatBody, model: LanguageModel) -> list[JsonObject]:
    """Return the tools that the provider runs, has a price for, and that name no address and nothing stored."""
    prices = model.provider.server_tool_prices
    if not chat.server_tools or not prices or not model.is_paid:
        return []
    return [tool for tool in chat.server_tools if str(tool.get("type")) in prices and passing.names_nothing(tool)]


def _name(tool: JsonObject) -> str:
    kind = tool.get("type")
    return "web_search_options" if kind == "web_search_options" else f"tools.{kind}"


def _digest(name: str) -> str:
    return salted_hmac("gateway.identities", name, algorithm="sha256").hexdigest()[:32]
