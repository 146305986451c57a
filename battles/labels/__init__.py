"""What a vote is filed under: categories, a language and the digest of its prompt."""

from battles.text.labels import UNDETERMINED, LabelChange, Labels

__all__ = ["UNDETERMINED", "LabelChange", "Labels"]
