"""The answer that a person grades."""

from dataclasses import dataclass

from django.utils.safestring import SafeString

from accounts.actor import Actor
from benchmarks.models import CaseFile, ItemReply, RenderedPrompt
from benchmarks.queries.cases import expected_text
from common.rendering.blocking import render
from reviews.models import Review, ReviewGrade
from uploads.models import Upload


@dataclass(frozen=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True)
class ShownReply:
    """question: the follow-up before it, "" for the first."""

    question: str
    text: str

    @property
    def html(self) -> SafeString:
        return render(self.text)


@dataclass(frozen=True)
class ShownAnswer:
    """number: of the ReviewGrade."""

    number: int
    messages: list[Message]
    files: list[Upload]
    replies: list[ShownReply]
    expected: str


def find_held(actor: Actor, review: Review) -> ReviewGrade | None:
    """Return the answer that waits for the person's grade."""
    held = ReviewGrade.objects.filter(review=review, person=actor.key, ended_at=None)
    return held.select_related("answer__item__case", "answer__item__entrant").first()


def read_shown(drawn: ReviewGrade) -> ShownAnswer:
    item = drawn.answer.item
    if item is None:
        return ShownAnswer(drawn.pk, [], [], [], "")
    prompt = RenderedPrompt.objects.filter(prompt=item.entrant.prompt_id, case=item.case_id).first()
    follow_ups = prompt.turns if prompt else []
    texts = ItemReply.objects.filter(item=item).order_by("turn").values_list("turn", "reply__text")
    return ShownAnswer(
        number=drawn.pk,
        messages=[Message(message["role"], str(message["content"])) for message in (prompt.messages if prompt else [])],
        files=[file.upload for file in CaseFile.objects.filter(case=item.case_id).select_related("upload")],
        replies=[ShownReply(follow_ups[turn - 1] if 0 < turn <= len(follow_ups) else "", text) for turn, text in texts],
        expected=expected_text(item.case.expected),
    )


def shows_upload(actor: Actor, upload: Upload) -> bool:
    """Return whether the person was shown an answer to a question with the file."""
    if not actor.is_known:
        return False
    drawn = ReviewGrade.objects.filter(person=actor.key).exclude(review__state=Review.State.WITHDRAWN)
    return CaseFile.objects.filter(upload=upload, case__in=drawn.values("answer__item__case")).exists()
