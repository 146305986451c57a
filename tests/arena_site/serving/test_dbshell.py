import os
import subprocess
import sys

import pytest
from django.conf import settings

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def test_dbshell_needs_no_psql_of_the_machine():
    command = [sys.executable, "-W", "ignore", "manage.py", "dbshell", "--", "-Atc", "SELECT current_user"]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=os.environ | {"PATH": "/nowhere"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "arena\n", "")
