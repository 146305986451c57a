"""Who is let in, how they sign in, and the letters they get."""

from arena_site.settings.environment import env

# Who is let in, and who may make an account (accounts.access).
ARENA_ACCESS = env.str("ARENA_ACCESS", default="open", choices=("open", "members", "private"))
ARENA_SIGNUP = env.str("ARENA_SIGNUP", default="open", choices=("open", "invitation", "closed"))
# Whether the administration opens only to staff with a second factor.
ARENA_STAFF_SECOND_FACTOR = env.bool("ARENA_STAFF_SECOND_FACTOR", default=False)
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
# accounts.sign_in.rate_limit counts passwords; `login_failed` is for wrong second factors of one account, and not by
# network: others behind the same address must not be locked out. A class may sign up within a minute.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": "5/15m/key", "signup": "60/m/ip"}
ACCOUNT_ADAPTER = "accounts.adapter.ArenaAccountAdapter"
ACCOUNT_FORMS = {"signup": "accounts.forms.SignUpForm"}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Arena"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
LOGIN_REDIRECT_URL = "battles:new"
ACCOUNT_LOGOUT_REDIRECT_URL = "battles:new"
LOGIN_URL = "account_login"
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="consolemail://")
vars().update(EMAIL_CONFIG)
EMAIL_TIMEOUT = 10
# What sends the queued messages (accounts.outgoing_email).
ARENA_EMAIL_BACKEND = EMAIL_CONFIG["EMAIL_BACKEND"]
_reaches_people = ARENA_EMAIL_BACKEND.split(".")[-2] not in ("console", "dummy")
EMAIL_BACKEND = "accounts.email_backend.QueuedBackend" if _reaches_people else ARENA_EMAIL_BACKEND
# Only where addresses are confirmed can sign-up answer the same for those that have an account.
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if _reaches_people else "optional"
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
DEFAULT_FROM_EMAIL = env.str("ARENA_FROM_EMAIL", default="arena@localhost")
