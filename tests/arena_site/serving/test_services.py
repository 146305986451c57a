import pytest
from django.db import connection
from django.db.utils import ProgrammingError

from common.valkey.connections import connection as valkey


@pytest.mark.django_db
def test_database_role_is_no_superuser():
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False,)
        with pytest.raises(ProgrammingError, match="permission denied"):
            cursor.execute("COPY (SELECT 1) TO PROGRAM 'true'")


def test_valkey_listens_on_socket_and_evicts_nothing():
    assert valkey().ping()
    assert valkey().config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert valkey().config_get("port") == {"port": "0"}
