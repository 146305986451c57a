from django.urls import path

from accounts import views

urlpatterns = [
    path("data/", views.my_data, name="account_data"),
    path("data/export/", views.export, name="account_export"),
    path("delete/", views.delete, name="account_delete"),
    path("tokens/", views.tokens, name="account_tokens"),
    path("tokens/<str:public_id>/revoke/", views.revoke_token, name="account_revoke_token"),
]
