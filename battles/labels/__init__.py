from battles.text.labels import UNDETERMINED, LabelChange, Labels

__all__ = ["UNDETERMINED", "LabelChange", "Labels"]
