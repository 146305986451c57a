from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from models_registry.config.models_file import import_models
from models_registry.config.yaml_lines import ConfigRefused
from models_registry.models import LanguageModel, Provider

MODEL = """
- id: gpt
  name: GPT
  model: gpt-6
  base_url: https://api.example.com/v1
  api_key_env: EXAMPLE_KEY
  organization: Example
  license: proprietary
  status: active
"""


EXTRA = """\
  provider: The Example
  needs_key: false
  kind: vllm
  deadlines: {first: 120, idle: 2.5}
  system_prompt: Be brief.
  parameters: {temperature: 0.5, max_tokens: 100, stop: [END]}
  aliases: [chatty, gepetto]
  weight: 0.5
  price: {input: 0.1, output: 2}
  context_length: 8192
  size_b: 0.135
  abilities: [images]
"""


def problems_of(text: str) -> list[tuple[int, str]]:
    with pytest.raises(ConfigRefused) as refusal:
        import_models(text)
    assert not LanguageModel.objects.exists()
    assert not Provider.objects.exists()
    return [(problem.line, problem.sentence) for problem in refusal.value.problems]


def import_file(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("import_models", str(path), *options, stdout=out)
    return out.getvalue()
