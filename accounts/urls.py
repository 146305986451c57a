from django.urls import path

from accounts import views

urlpatterns = [
    path("browsers/", views.browsers, name="account_browsers"),
    path("browsers/others/sign-out/", views.sign_out_others, name="account_sign_out_others"),
    path("browsers/<str:public_id>/sign-out/", views.sign_out_browser, name="account_sign_out_browser"),
    path("data/", views.my_data, name="account_data"),
    path("data/export/", views.export, name="account_export"),
    path("delete/", views.delete, name="account_delete"),
    path("limits/", views.limits, name="account_limits"),
    path("tokens/", views.tokens, name="account_tokens"),
    path("tokens/<str:public_id>/revoke/", views.revoke_token, name="account_revoke_token"),
]
