"""Forms of categories, moderation rules and suggestions, and of a test of a model."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from battles import suggestions
from battles.labels.categories import BUILT_IN
from battles.models import Action, Category, ModerationRule, PromptSuggestion
from battles.moderation.rule_timing import MAX_RULE_S, search_seconds
from battles.text.labels import UNDETERMINED
from battles.text.matching import InvalidPattern, Matcher
from common.admin.translated_text import TranslatedField

MAX_PHRASES = 200
MAX_SLUG_OF_TEAM = 39
MAX_PATTERNS, MAX_PATTERN_CHARACTERS = 500, 300
_LANGUAGE = re.compile(rf"[a-z]{{2}}|{UNDETERMINED}")


class LinesField(forms.CharField):
    widget = forms.Textarea(attrs={"rows": 8, "cols": 40})

    def prepare_value(self, value: object) -> object:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: object) -> Any:
        lines = (" ".join(line.split()) for line in (super().to_python(value) or "").splitlines())
        return list(dict.fromkeys(line for line in lines if line))


class CategoryForm(forms.ModelForm):  # type: ignore[type-arg]
    phrases = LinesField(
        label=_("Words or phrases"),
        required=False,
        help_text=_(
            "One per line; a prompt with any of them matches. Case is ignored. “contract” matches the whole word "
            "only, “contract*” also “contracts” and “contractor”."
        ),
    )

    class Meta:
        model = Category
        fields = [
            "name",
            "slug",
            "description",
            "is_active",
            "phrases",
            "languages",
            "fewest_characters",
            "fewest_turns",
        ]
        help_texts = {
            "slug": _("The board's address. It cannot be changed later."),
            "description": _("Shown to readers of the board: what is filed here?"),
            "is_active": _(
                "If unchecked, no new votes are filed here. Existing ones stay until votes are filed again."
            ),
            "languages": _("Two-letter codes separated by commas, such as “en, fr”. Empty: any language."),
            "fewest_characters": _("Of all the person's prompts in a battle. 0: any length."),
            "fewest_turns": _("1: any battle."),
        }

    def _get_validation_exclusions(self) -> set[str]:
        """Check that the address is its owner's only one."""
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        return excluded - {"team"}

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"])
        if slug in BUILT_IN:
            raise ValidationError(_("The arena has this category already."))
        return slug

    def clean_phrases(self) -> list[str]:
        phrases: list[str] = self.cleaned_data["phrases"]
        if len(phrases) > MAX_PHRASES:
            raise ValidationError(_("At most %(most)d words or phrases."), params={"most": MAX_PHRASES})
        for phrase in phrases:
            if len(phrase.removesuffix("*").strip()) < 2:
                raise ValidationError(_("“%(phrase)s” is too short."), params={"phrase": phrase})
            if len(phrase) > 80:
                raise ValidationError(_("“%(phrase)s” is longer than 80 characters."), params={"phrase": phrase})
        return phrases

    def clean_languages(self) -> list[str]:
        languages = [language.strip().lower() for language in self.cleaned_data["languages"]]
        for language in languages:
            if not _LANGUAGE.fullmatch(language):
                raise ValidationError(_("“%(code)s” is not a two-letter code."), params={"code": language})
        return languages


class TeamCategoryForm(CategoryForm):
    class Meta(CategoryForm.Meta):
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}
        help_texts = CategoryForm.Meta.help_texts | {
            "is_active": _("If unchecked, no new votes are filed here. Existing ones stay."),
        }

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if self.instance.pk is not None:
            del self.fields["slug"]  # votes have it
        else:
            # TEAM_MARK comes in front.
            self.fields["slug"].validators.append(MaxLengthValidator(MAX_SLUG_OF_TEAM))
            self.fields["slug"].widget.attrs["maxlength"] = MAX_SLUG_OF_TEAM


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]
    patterns = LinesField(
        label=_("What is looked for"),
        help_text=_(
            "One a line; any of them is enough. A phrase is found as whole words, “contract*” also in “contracts”, and "
            "however it is hidden: by signs, spaces or invisible characters between its letters, look-alikes, accents. "
            "Expressions are RE2's and read texts in lower case without accents. Of the endpoint, the names of its "
            "categories, such as “hate/threatening”."
        ),
    )

    class Meta:
        model = ModerationRule
        fields = ["category", "kind", "patterns", "threshold", "action", "note"]

    def clean_patterns(self) -> list[str]:
        patterns: list[str] = self.cleaned_data["patterns"]
        if len(patterns) > MAX_PATTERNS:
            raise ValidationError(_("At most %(most)d lines."), params={"most": MAX_PATTERNS})
        if too_long := next((line for line in patterns if len(line) > MAX_PATTERN_CHARACTERS), ""):
            words = {"line": f"{too_long[:30]}…", "most": MAX_PATTERN_CHARACTERS}
            raise ValidationError(_("“%(line)s” is longer than %(most)d characters."), params=words)
        return patterns

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        kind, patterns = cleaned.get("kind"), cleaned.get("patterns", [])
        if kind and kind != ModerationRule.Kind.ENDPOINT:
            matchers = [self._parse_line(line, ModerationRule(kind=str(kind), patterns=[line])) for line in patterns]
            if not self.errors:
                self._check_speed([matcher for matcher in matchers if matcher is not None], patterns)
        return cleaned

    def _check_speed(self, matchers: list[Matcher], patterns: list[str]) -> None:
        """Add an error if the rule would delay every prompt."""
        if search_seconds(matchers, patterns) > MAX_RULE_S:
            problem = _(
                "Searching a long prompt takes more than %(most)d ms. Use fewer or simpler expressions; repetitions "
                "such as “{0,100}” are slowest."
            )
            self.add_error("patterns", ValidationError(problem, params={"most": MAX_RULE_S * 1000}))

    def _parse_line(self, line: str, rule: ModerationRule) -> Matcher | None:
        try:
            return rule.matcher
        except InvalidPattern as error:
            fits_anything = _("“%(line)s” is empty or matches every text.")
            problem = _("“%(line)s” is not a valid expression: %(problem)s.") if str(error) else fits_anything
            self.add_error("patterns", ValidationError(problem, params={"line": line, "problem": str(error)}))
            return None


class TeamRuleForm(RuleForm):
    """Form without the moderation endpoint and its queue, which are the site's."""

    class Meta(RuleForm.Meta):
        fields = ["category", "kind", "patterns", "action", "note"]
        labels = {"category": _("Name"), "note": _("Note for managers")}

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        Kind = ModerationRule.Kind
        self.fields["kind"].choices = [(kind.value, kind.label) for kind in (Kind.PHRASES, Kind.EXPRESSIONS)]  # type: ignore[attr-defined]
        self.fields["action"].choices = [  # type: ignore[attr-defined]
            (action.value, action.label) for action in (Action.WARN, Action.BLOCK, Action.OFF)
        ]
        if self.instance.pk is None:
            self.initial["action"] = Action.WARN
        self.fields["note"].help_text = ""
        self.fields["patterns"].help_text = _(
            "One a line; any of them is enough. A phrase is found as whole words, “contract*” also in “contracts”. "
            "Expressions are RE2's and read texts in lower case without accents."
        )


class PromptSuggestionForm(forms.ModelForm):  # type: ignore[type-arg]
    texts = TranslatedField(
        label=capfirst(_("prompt")),
        max_characters=suggestions.MAX_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text=_("Shown to readers of these languages; to others it is not."),
    )

    class Meta:
        model = PromptSuggestion
        fields = ["texts", "position", "is_shown"]


class ModelTestForm(forms.Form):
    prompt = forms.CharField(
        label=_("Prompt"), max_length=20_000, initial=_("Introduce yourself in two sentences."),
        widget=forms.Textarea(attrs={"rows": 4, "cols": 90}),
    )  # fmt: skip
