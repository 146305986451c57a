import pytest
from django.test import Client

from accounts.models import User


@pytest.fixture
def admin(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    return client
