"""Triggers that more than one app has."""

import pgtrigger


def forbid_truncate(name: str) -> pgtrigger.Trigger:
    """Refuse TRUNCATE, for which the triggers of rows do not fire. pgtrigger.Protect does not know this operation."""
    return pgtrigger.Trigger(
        name=name, when=pgtrigger.Before, operation=pgtrigger.Truncate, level=pgtrigger.Statement,
        func="RAISE EXCEPTION 'pgtrigger: Cannot truncate table %', TG_TABLE_NAME;",
    )  # fmt: skip


def allow_truncate_sql() -> str:
    """Return SQL after which the owner of those tables may TRUNCATE them until COMMIT, as a restore does."""
    found = [(model, trigger) for model, trigger in pgtrigger.registered() if trigger.operation == pgtrigger.Truncate]
    names = [trigger.get_pgid(model) for model, trigger in found]
    return f"SELECT set_config('pgtrigger.ignore', '{{{','.join(names)}}}', true)"
