"""OpenID Connect Back-Channel Logout 1.0: an issuer ends sessions it began."""

import logging
import time

from django.contrib.sessions.models import Session as BrowserSession
from django.core.cache import cache

from accounts.models import SignIn
from accounts.single_sign_on.issuers import Issuer
from accounts.single_sign_on.tokens import refused, verified_claims
from common.valkey.connections import UNREACHABLE

logger = logging.getLogger(__name__)

EVENT = "http://schemas.openid.net/event/backchannel-logout"
MAX_AGE_S = 300
MAX_ID_LENGTH = 255


def sign_out(issuer: Issuer, token: object) -> int:
    """Delete the sessions that a logout token names; return their number. Raises TokenInvalid."""
    claims = verified_claims(issuer, token, required=["iss", "aud", "iat", "exp", "jti", "events"])
    subject, session, events = claims.get("sub", ""), claims.get("sid", ""), claims["events"]
    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):
        raise refused(issuer, "events")
    if "nonce" in claims:  # an ID token
        raise refused(issuer, "nonce")
    if time.time() - float(claims["iat"]) > MAX_AGE_S:
        raise refused(issuer, "expired")
    texts = (subject, session, claims["jti"])
    if not (subject or session) or not all(isinstance(text, str) and len(text) <= MAX_ID_LENGTH for text in texts):
        raise refused(issuer, "subject")
    if not _is_first_use(issuer, claims["jti"]):
        raise refused(issuer, "replay")
    sign_ins = SignIn.objects.filter(issuer=issuer.url)
    if subject:
        sign_ins = sign_ins.filter(user__socialaccount__provider=issuer.url, user__socialaccount__uid=subject)
    if session:
        sign_ins = sign_ins.filter(issuer_session=session)
    _, ended = BrowserSession.objects.filter(sign_in__in=sign_ins).delete()
    browsers = ended.get(BrowserSession._meta.label, 0)
    logger.info("issuer %s signed out %d browsers", issuer.key, browsers)
    return browsers


def _is_first_use(issuer: Issuer, token_id: str) -> bool:
    """Return True also without Valkey: a sign-out must not get lost."""
    try:
        return bool(cache.add(f"logout-token:{issuer.key}:{token_id}", True, timeout=2 * MAX_AGE_S))
    except UNREACHABLE:
        return True
