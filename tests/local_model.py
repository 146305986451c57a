from importlib.util import find_spec

import pytest

needs_local_model = pytest.mark.skipif(
    find_spec("xllamacpp") is None, reason="the local model's packages are not installed"
)
