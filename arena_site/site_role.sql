-- The rights of the role the site runs as, which owns nothing: it reads and writes rows, and can change no table, trigger
-- or function, and empty no table. Run by its owner after every migration; safe to repeat.
GRANT USAGE ON SCHEMA public TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role};
GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA public TO {role};
-- Tables of later migrations, from the moment they are made.
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, USAGE ON SEQUENCES TO {role};

-- Which migrations were applied is the owner's to say.
REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {role};

-- Evidence is added to. A session variable switches pgtrigger's triggers off, but gives nobody a right: only the columns
-- that may change can be updated, and nothing can be deleted.
REVOKE UPDATE, DELETE ON accounts_auditentry, battles_vote, battles_starrating, leaderboard_votechange,
    leaderboard_aggregationrun, leaderboard_standing, leaderboard_importedvote FROM {role};
GRANT UPDATE (user_id) ON accounts_auditentry TO {role};
GRANT UPDATE ({changing_columns_of_votes}) ON battles_vote TO {role};
GRANT UPDATE (voter, renamed_at) ON battles_starrating TO {role};
GRANT UPDATE (by_id) ON leaderboard_votechange TO {role};
