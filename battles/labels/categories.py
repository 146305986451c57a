from django.utils.translation import gettext_lazy as _

from battles.models import Category

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


def category_names() -> dict[str, str]:
    """Return names by key: built-in ones, then the operator's, also inactive ones."""
    custom = Category.objects.values_list("slug", "name")
    return {key: str(name) for key, (name, _rule) in BUILT_IN.items()} | dict(custom)
