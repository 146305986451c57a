from django.utils.translation import gettext_lazy as _

ACTIONS = {
    "battle": _("new battles"),
    "turn": _("follow-ups, and asking again"),
    "vote": _("votes"),
    "star": _("stars"),
    "report": _("reports"),
    "upload": _("files brought"),
    "read": _("reading by the API"),
    "gateway": _("requests of other software"),
    "route": _("decisions of auto mode"),
    "run": _("new benchmark runs"),
    "export": _("downloads of votes and of one’s own data"),
    "signin": _("wrong passwords"),
    "signup": _("new accounts"),
    "signon": _("sign-ins begun with an organization"),
    "token": _("wrong API tokens"),
    "join": _("wrong codes of reviews"),
    "reviewer": _("new visitors in reviews for everybody"),
}
WHO = {
    "visitor": _("a visitor"),
    "member": _("a member"),
    "person": _("one e-mail address from one network, or from a browser in which it signed in before"),
    "address": _("one e-mail address from anywhere"),
    "network": _("one network (an IPv4 address or an IPv6 /64)"),
    "network48": _("one IPv6 /48"),
}
