from django.db import migrations, models
from pgtrigger.compiler import Trigger, UpsertTriggerSql
from pgtrigger.migrations import AddTrigger

from battles.models.votes import NextStarOrder
from battles.sql import read_sql


class Migration(migrations.Migration):
    dependencies = [
        ("battles", "0001_first_release"),
    ]

    operations = [
        migrations.RunSQL(read_sql("vote_order.sql"), "DROP FUNCTION battles_next_vote_order"),
        migrations.RunSQL(read_sql("star_order.sql"), "DROP FUNCTION battles_next_star_order"),
        migrations.RunSQL(
            read_sql("settle_blind_charges.sql"),
            "DROP TRIGGER an_ended_turn_settles_its_blind_charges ON battles_turn; DROP FUNCTION battles_settle_blind_charges",
        ),
        # For an INSERT without the column. Django writes NULL instead, and a trigger sets the number at COMMIT.
        migrations.RunSQL(
            'ALTER TABLE battles_vote ALTER COLUMN "order" SET DEFAULT battles_next_vote_order()',
            'ALTER TABLE battles_vote ALTER COLUMN "order" DROP DEFAULT',
        ),
        migrations.AlterField(
            model_name="starrating",
            name="order",
            field=models.PositiveBigIntegerField(db_default=NextStarOrder(), editable=False, unique=True),
        ),
        AddTrigger(
            model_name="routingdecision",
            trigger=Trigger(
                name="facts_of_a_decision_never_change",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."public_id" IS DISTINCT FROM (NEW."public_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."query_type" IS DISTINCT FROM (NEW."query_type") OR OLD."type_confidence" IS DISTINCT FROM (NEW."type_confidence") OR OLD."categories" IS DISTINCT FROM (NEW."categories") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."context" IS DISTINCT FROM (NEW."context") OR OLD."policy" IS DISTINCT FROM (NEW."policy") OR OLD."target" IS DISTINCT FROM (NEW."target") OR OLD."model_id" IS DISTINCT FROM (NEW."model_id") OR OLD."runner_up_id" IS DISTINCT FROM (NEW."runner_up_id") OR OLD."confidence" IS DISTINCT FROM (NEW."confidence") OR OLD."win_chance" IS DISTINCT FROM (NEW."win_chance") OR OLD."cost_expected" IS DISTINCT FROM (NEW."cost_expected") OR OLD."cost_best" IS DISTINCT FROM (NEW."cost_best") OR OLD."dial" IS DISTINCT FROM (NEW."dial") OR OLD."propensity" IS DISTINCT FROM (NEW."propensity") OR OLD."explored" IS DISTINCT FROM (NEW."explored") OR OLD."candidates" IS DISTINCT FROM (NEW."candidates") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."details" IS DISTINCT FROM (NEW."details") OR OLD."micros" IS DISTINCT FROM (NEW."micros"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="b5e48ba0b1dd47c02cfb8cf3ceeded785ae1b704",
                    operation="UPDATE",
                    pgid="pgtrigger_facts_of_a_decision_never_change_93acf",
                    table="battles_routingdecision",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="vote",
            trigger=Trigger(
                name="facts_of_a_vote_never_change",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."battle_id" IS DISTINCT FROM (NEW."battle_id") OR OLD."mode" IS DISTINCT FROM (NEW."mode") OR OLD."origin" IS DISTINCT FROM (NEW."origin") OR OLD."choice" IS DISTINCT FROM (NEW."choice") OR OLD."model_left_id" IS DISTINCT FROM (NEW."model_left_id") OR OLD."model_right_id" IS DISTINCT FROM (NEW."model_right_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."style" IS DISTINCT FROM (NEW."style") OR OLD."turn_count" IS DISTINCT FROM (NEW."turn_count"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="cde2fd30e019677e4ad2d34c8ecc9b817c6d93b6",
                    operation="UPDATE",
                    pgid="pgtrigger_facts_of_a_vote_never_change_eb722",
                    table="battles_vote",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="vote",
            trigger=Trigger(
                name="a_votes_number_never_changes",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."order" IS NOT NULL AND OLD."order" IS DISTINCT FROM (NEW."order"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="e5b11ca2f3ef5ce3da7eddb6766c69d1ab6c7f61",
                    operation="UPDATE",
                    pgid="pgtrigger_a_votes_number_never_changes_312aa",
                    table="battles_vote",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="vote",
            trigger=Trigger(
                name="a_vote_is_numbered_at_commit",
                sql=UpsertTriggerSql(
                    condition='WHEN (NEW."order" IS NULL)',
                    constraint="CONSTRAINT",
                    func='\n                    UPDATE battles_vote SET "order" = battles_next_vote_order() WHERE id = NEW.id;\n                    RETURN NULL;\n                ',
                    hash="dd1aea8ee9ca863bf227d12b9a0dda804f2b2f7b",
                    operation="INSERT",
                    pgid="pgtrigger_a_vote_is_numbered_at_commit_c179e",
                    table="battles_vote",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        AddTrigger(
            model_name="vote",
            trigger=Trigger(
                name="a_vote_is_never_deleted", sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash="85949ed9f652ddd8491b0c38e9cd266e89fd6d71", operation="DELETE", pgid="pgtrigger_a_vote_is_never_deleted_80220", table="battles_vote", when="BEFORE")
            ),
        ),
        AddTrigger(
            model_name="vote",
            trigger=Trigger(
                name="votes_are_never_emptied", sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate table %', TG_TABLE_NAME;", hash="19dc4990f17bdd1e4df6537689aaae67f9cc4a77", level="STATEMENT", operation="TRUNCATE", pgid="pgtrigger_votes_are_never_emptied_e8ee4", table="battles_vote", when="BEFORE")
            ),
        ),
        AddTrigger(
            model_name="starrating",
            trigger=Trigger(
                name="given_stars_never_change",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."answer_id" IS DISTINCT FROM (NEW."answer_id") OR OLD."stars" IS DISTINCT FROM (NEW."stars") OR OLD."order" IS DISTINCT FROM (NEW."order") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="a71811d210130c9ef9069c89b04d4bdf3470ddbc",
                    operation="UPDATE",
                    pgid="pgtrigger_given_stars_never_change_6bef8",
                    table="battles_starrating",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="starrating",
            trigger=Trigger(
                name="given_stars_are_never_deleted",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash="50605780b172f0ff516efc177cbcb8739d869fd2", operation="DELETE", pgid="pgtrigger_given_stars_are_never_deleted_ed286", table="battles_starrating", when="BEFORE"),
            ),
        ),
        AddTrigger(
            model_name="starrating",
            trigger=Trigger(
                name="given_stars_are_never_emptied",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate table %', TG_TABLE_NAME;", hash="563ae8fe61553aa6e62a416db11a81eb97874f75", level="STATEMENT", operation="TRUNCATE", pgid="pgtrigger_given_stars_are_never_emptied_dcd4b", table="battles_starrating", when="BEFORE"),
            ),
        ),
    ]
