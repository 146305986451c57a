from functools import cached_property

from csp.constants import HEADER
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin


class ContentSecurityPolicyMiddleware(MiddlewareMixin):
    """Sets the policy of the settings, built once: django-csp's middleware builds it twice for each response.

    No view changes the policy, and none uses a nonce.
    """

    @cached_property
    def _policy(self) -> str:
        return build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault(HEADER, self._policy)
        return response
