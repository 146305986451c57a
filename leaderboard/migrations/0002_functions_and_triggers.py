from django.db import migrations
from pgtrigger.compiler import Trigger, UpsertTriggerSql
from pgtrigger.migrations import AddTrigger

from leaderboard.sql import read_sql


class Migration(migrations.Migration):
    dependencies = [
        ("battles", "0002_functions_and_triggers"),
        ("leaderboard", "0001_first_release"),
    ]

    operations = [
        migrations.RunSQL(
            read_sql("elo.sql"),
            "DROP TRIGGER elo_moves_with_a_votes_number ON battles_vote; DROP FUNCTION leaderboard_move_elo()",
        ),
        AddTrigger(
            model_name="importedvote",
            trigger=Trigger(
                name="an_imported_vote_never_changes",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash="037000aef31e6cd1fcf098eee578a7a411d4f475", operation="UPDATE OR DELETE", pgid="pgtrigger_an_imported_vote_never_changes_e147a", table="leaderboard_importedvote", when="BEFORE"),
            ),
        ),
        AddTrigger(
            model_name="aggregationrun",
            trigger=Trigger(
                name="a_run_never_changes",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash="e65dd6bb5fe97c10b58f4709d2bc8e7291c4d9b9", operation="UPDATE OR DELETE", pgid="pgtrigger_a_run_never_changes_7bc79", table="leaderboard_aggregationrun", when="BEFORE"),
            ),
        ),
        AddTrigger(
            model_name="standing",
            trigger=Trigger(
                name="a_standing_never_changes",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash="bf02fa2a56749152eb23c0b05da07af2556bd209", operation="UPDATE OR DELETE", pgid="pgtrigger_a_standing_never_changes_b75cd", table="leaderboard_standing", when="BEFORE"),
            ),
        ),
        AddTrigger(
            model_name="votechange",
            trigger=Trigger(
                name="a_change_of_a_vote_never_changes",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."vote_id" IS DISTINCT FROM (NEW."vote_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."before" IS DISTINCT FROM (NEW."before") OR OLD."after" IS DISTINCT FROM (NEW."after") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."at" IS DISTINCT FROM (NEW."at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="7b761909ece4c7d225b0053a418d9d6c1f45f941",
                    operation="UPDATE",
                    pgid="pgtrigger_a_change_of_a_vote_never_changes_9a1fe",
                    table="leaderboard_votechange",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="votechange",
            trigger=Trigger(
                name="a_change_of_a_vote_is_never_deleted",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash="9ef7922818bce0f35b73651404c3cb70c9897f3d", operation="DELETE", pgid="pgtrigger_a_change_of_a_vote_is_never_deleted_7406f", table="leaderboard_votechange", when="BEFORE"),
            ),
        ),
    ]
