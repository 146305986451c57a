from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import pgtrigger
from django.db import connection
from django.db.models import Model


def forbid_truncate(name: str) -> pgtrigger.Trigger:
    """Return a trigger that refuses TRUNCATE: row triggers do not fire for it, and pgtrigger.Protect has no option."""
    return pgtrigger.Trigger(
        name=name, when=pgtrigger.Before, operation=pgtrigger.Truncate, level=pgtrigger.Statement,
        func="RAISE EXCEPTION 'pgtrigger: Cannot truncate table %', TG_TABLE_NAME;",
    )  # fmt: skip


def refuse_rows(
    name: str, where: str, *, updated: Sequence[str] = (), condition: pgtrigger.Condition | None = None
) -> pgtrigger.Trigger:
    """Return a constraint trigger on new rows, which a restore defers: it loads tables in any order.

    where: SQL on NEW that is true of refused rows. updated: columns whose change is checked, too. condition: of rows
    that are checked at all.
    """
    operation = pgtrigger.Insert | pgtrigger.UpdateOf(*updated) if updated else pgtrigger.Insert  # type: ignore[no-untyped-call]
    func = f"""
    IF {where} THEN
        RAISE EXCEPTION '{name}' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
"""
    return pgtrigger.Trigger(
        name=name, when=pgtrigger.After, timing=pgtrigger.Immediate, operation=operation, condition=condition, func=func
    )


def allow_truncate_sql() -> str:
    """Return SQL that disables the TRUNCATE triggers until COMMIT."""
    names = [
        trigger.get_pgid(model) for model, trigger in pgtrigger.registered() if trigger.operation == pgtrigger.Truncate
    ]
    return f"SELECT set_config('pgtrigger.ignore', '{{{','.join(names)}}}', true)"


@contextmanager
def without_triggers_of(*models: type[Model]) -> Iterator[None]:
    """Switch off the models' triggers within a transaction."""
    # pgtrigger.ignore puts a second command before each statement, so that it cannot be prepared.
    names = [trigger.get_pgid(model) for model, trigger in pgtrigger.registered() if cast(object, model) in models]
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('pgtrigger.ignore', %s, true)", [f"{{{','.join(names)}}}"])
        yield
        cursor.execute("SELECT set_config('pgtrigger.ignore', '', true)")
