from django.urls import path

from gateway import views

urlpatterns = [
    path("models", views.models, name="gateway-models"),
    path("models/<path:name>", views.model, name="gateway-model"),
    path("chat/completions", views.chat_completions, name="gateway-chat"),
    path("responses", views.responses, name="gateway-responses"),
    path("messages", views.messages, name="gateway-messages"),
    path("messages/count_tokens", views.count_tokens, name="gateway-count-tokens"),
    # Last, so that it matches only paths of no other view.
    path("<path:rest>", views.unknown_address),
]
