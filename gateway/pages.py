from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gateway.answers.candidates import choosable_models
from gateway.snippets import snippets

# The others stand at /v1/models.
MAX_MODELS_SHOWN = 12


@require_safe
def software(request: HttpRequest) -> HttpResponse:
    base_url = request.build_absolute_uri("/v1")
    context = {
        "base_url": base_url,
        "models": choosable_models()[:MAX_MODELS_SHOWN],
        "snippets": snippets(base_url),
    }
    return render(request, "gateway/software.html", context)
