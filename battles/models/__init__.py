from battles.models.answer_states import AnswerState
from battles.models.battles import NUMBERED_POSITIONS, Battle, BattleQuerySet, Position, Side
from battles.models.blind_charges import BlindCharge
from battles.models.calls import Call, CallQuerySet
from battles.models.categories import Category
from battles.models.feedback_tags import FeedbackTag
from battles.models.moderation import (
    Action,
    ModerationCase,
    ModerationCaseQuerySet,
    ModerationEndpoint,
    ModerationRule,
    ModerationVerdict,
    Report,
)
from battles.models.routing import RoutingDecision, RoutingDecisionQuerySet
from battles.models.sessions import Session
from battles.models.shares import GalleryTombstone, Share
from battles.models.suggestions import PromptSuggestion
from battles.models.turns import Answer, Attachment, Turn, TurnQuerySet
from battles.models.votes import NetworkCap, StarRating, Vote, VoteCounter, VoteNetwork, VoteQuerySet

__all__ = [
    "NUMBERED_POSITIONS",
    "Action",
    "Answer",
    "AnswerState",
    "Attachment",
    "Battle",
    "BattleQuerySet",
    "BlindCharge",
    "Call",
    "CallQuerySet",
    "Category",
    "FeedbackTag",
    "GalleryTombstone",
    "ModerationCase",
    "ModerationCaseQuerySet",
    "ModerationEndpoint",
    "ModerationRule",
    "ModerationVerdict",
    "NetworkCap",
    "Position",
    "PromptSuggestion",
    "Report",
    "RoutingDecision",
    "RoutingDecisionQuerySet",
    "Session",
    "Share",
    "Side",
    "StarRating",
    "Turn",
    "TurnQuerySet",
    "Vote",
    "VoteCounter",
    "VoteNetwork",
    "VoteQuerySet",
]
