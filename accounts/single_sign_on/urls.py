from django.urls import path
from django.views.generic.base import RedirectView

from accounts.single_sign_on import views

# Allauth looks up some of these names; its own views are not used.
urlpatterns = [
    path("connections/", views.connections, name="socialaccount_connections"),
    path("connections/<slug:key>/connect/", views.connect, name="account_connect"),
    path("connections/<slug:key>/disconnect/", views.disconnect, name="account_disconnect"),
    path("sso/<slug:key>/", views.start, name="openid_connect_login"),
    path("sso/<slug:key>/callback/", views.callback, name="openid_connect_callback"),
    path("sso/<slug:key>/sign-out/", views.back_channel_sign_out, name="openid_connect_sign_out"),
    # allauth sends people here if the address was taken while the account was made.
    path("sso/", RedirectView.as_view(pattern_name="account_login"), name="socialaccount_signup"),
]
