from django.urls import path

from accounts import views

urlpatterns = [
    path("tokens/", views.tokens, name="account_tokens"),
    path("tokens/<str:public_id>/revoke/", views.revoke_token, name="account_revoke_token"),
]
