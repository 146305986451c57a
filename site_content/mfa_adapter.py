from allauth.mfa.adapter import DefaultMFAAdapter

from site_content.current import site


class ArenaMFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Names the site in authenticator apps and passkeys."""

    def get_totp_issuer(self) -> str:
        return site().name

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {**super().get_public_key_credential_rp_entity(), "name": site().name}
