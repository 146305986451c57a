from accounts.models.audit import AuditEntry
from accounts.models.bans import Ban
from accounts.models.invitations import Invitation
from accounts.models.issuer_groups import IssuerGroup
from accounts.models.limits import Limit, LimitGroup
from accounts.models.outgoing_email import OutgoingEmail
from accounts.models.staff_networks import StaffNetwork
from accounts.models.teams import Role, Team, TeamMember
from accounts.models.tokens import ApiToken, IdempotencyKey, Scope
from accounts.models.users import EmailUserManager, SignIn, User, Visitor

__all__ = [
    "ApiToken",
    "AuditEntry",
    "Ban",
    "EmailUserManager",
    "IdempotencyKey",
    "Invitation",
    "IssuerGroup",
    "Limit",
    "LimitGroup",
    "OutgoingEmail",
    "Role",
    "Scope",
    "SignIn",
    "StaffNetwork",
    "Team",
    "TeamMember",
    "User",
    "Visitor",
]
