-- Rights of the site's role, which owns nothing: it reads and writes rows, but cannot alter tables, triggers or functions,
-- nor truncate tables. Run by the tables' owner after every migration; safe to repeat.
GRANT USAGE ON SCHEMA public TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role};
GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA public TO {role};
-- Tables of later migrations get the same rights when they are created.
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, USAGE ON SEQUENCES TO {role};

-- Only the owner records migrations.
REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {role};

-- Evidence is append-only: rows cannot be deleted and only the columns below can be updated. pgtrigger's triggers protect
-- it, too, but a session variable switches them off; it does not change rights.
REVOKE UPDATE, DELETE ON accounts_auditentry, battles_vote, battles_starrating, leaderboard_votechange,
    leaderboard_aggregationrun, leaderboard_standing, leaderboard_importedvote FROM {role};
GRANT UPDATE (user_id) ON accounts_auditentry TO {role};
GRANT UPDATE ({mutable_vote_columns}) ON battles_vote TO {role};
GRANT UPDATE (voter, renamed_at) ON battles_starrating TO {role};
GRANT UPDATE (by_id) ON leaderboard_votechange TO {role};
-- Decisions of auto mode and its trainings may be deleted with time, but not changed.
REVOKE UPDATE ON battles_routingdecision, routing_routersnapshot FROM {role};
GRANT UPDATE ({mutable_decision_columns}) ON battles_routingdecision TO {role};
