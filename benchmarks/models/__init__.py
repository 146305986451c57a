from benchmarks.models.grades import Grade
from benchmarks.models.replies import ItemCall, ItemReply, Reply, Score
from benchmarks.models.runs import Entrant, ProviderPace, Run, RunCount, RunItem
from benchmarks.models.templates import Case, Check, Prompt, RenderedPrompt, Template, TemplateVersion

__all__ = [
    "Case",
    "Check",
    "Entrant",
    "Grade",
    "ItemCall",
    "ItemReply",
    "Prompt",
    "ProviderPace",
    "RenderedPrompt",
    "Reply",
    "Run",
    "RunCount",
    "RunItem",
    "Score",
    "Template",
    "TemplateVersion",
]
