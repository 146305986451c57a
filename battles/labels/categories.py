from django.utils.translation import gettext_lazy as _

from battles.models import Category
from battles.models.categories import TEAM_MARK

# Name and rule of each category of battles.text.classifier, shown to readers of a board.
BUILT_IN = {
    "coding": (_("Coding"), _("asks for, shows or is about program code")),
    "maths": (_("Maths"), _("asks for a calculation, an equation or a proof")),
    "creative-writing": (_("Creative writing"), _("asks for a story, a poem or other creative text")),
    "instruction-following": (
        _("Instruction following"),
        _("sets checkable rules for the form of the answer"),
    ),
    "hard-prompt": (_("Hard prompts"), _("asks for demanding reasoning or design, technical or at length")),
    "long-prompt": (_("Long prompts"), _("has about 500 tokens or more")),
    "images": (_("Images"), _("comes with a picture")),
    "multi-turn": (_("Multi-turn"), _("starts a conversation of more than one turn")),
}


def category_names(team_id: int | None = None) -> dict[str, str]:
    """Return names by key: built-in ones, then the operator's and the team's, also inactive ones."""
    custom = Category.objects.values_list("slug", "name")
    own = Category.of_every_owner.filter(team=team_id) if team_id is not None else ()
    names = {key: str(name) for key, (name, _rule) in BUILT_IN.items()} | dict(custom)
    return names | {category.key: category.name for category in own}


def find_category(key: str, team_id: int | None) -> Category | None:
    """Return the site's category, or the team's of a key with TEAM_MARK."""
    if not key.startswith(TEAM_MARK):
        return Category.objects.filter(slug=key).first()
    own = Category.of_every_owner.filter(team=team_id, slug=key.removeprefix(TEAM_MARK))
    return own.first() if team_id is not None else None
