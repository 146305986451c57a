import pgtrigger


def forbid_truncate(name: str) -> pgtrigger.Trigger:
    """Return a trigger that refuses TRUNCATE: row triggers do not fire for it, and pgtrigger.Protect has no option."""
    return pgtrigger.Trigger(
        name=name, when=pgtrigger.Before, operation=pgtrigger.Truncate, level=pgtrigger.Statement,
        func="RAISE EXCEPTION 'pgtrigger: Cannot truncate table %', TG_TABLE_NAME;",
    )  # fmt: skip


def allow_truncate_sql() -> str:
    """Return SQL that disables the TRUNCATE triggers until COMMIT."""
    found = [(model, trigger) for model, trigger in pgtrigger.registered() if trigger.operation == pgtrigger.Truncate]
    names = [trigger.get_pgid(model) for model, trigger in found]
    return f"SELECT set_config('pgtrigger.ignore', '{{{','.join(names)}}}', true)"
