from benchmarks.models.files import CaseFile
from benchmarks.models.grades import Grade
from benchmarks.models.imports import ImportLook
from benchmarks.models.items import RunCount, RunItem
from benchmarks.models.judging import Judge, Judgement, Judging
from benchmarks.models.live_judging import LiveCall, LiveDraw, LiveJudge, LiveJudgement
from benchmarks.models.replies import ItemCall, ItemReply, Reply, Score
from benchmarks.models.reports import RunReport
from benchmarks.models.runs import Entrant, ProviderPace, Run
from benchmarks.models.templates import Case, Check, Prompt, RenderedPrompt, RenderedTargets, Template, TemplateVersion

__all__ = [
    "Case",
    "CaseFile",
    "Check",
    "Entrant",
    "Grade",
    "ImportLook",
    "ItemCall",
    "ItemReply",
    "Judge",
    "Judgement",
    "Judging",
    "LiveCall",
    "LiveDraw",
    "LiveJudge",
    "LiveJudgement",
    "Prompt",
    "ProviderPace",
    "RenderedPrompt",
    "RenderedTargets",
    "Reply",
    "Run",
    "RunCount",
    "RunItem",
    "RunReport",
    "Score",
    "Template",
    "TemplateVersion",
]
