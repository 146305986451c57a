#!/bin/sh
# Run when PostgreSQL creates its cluster; safe to repeat. `arena` owns the arena's database, `arena_site` only uses it
# (arena_site/site_role.sql). Neither is a superuser, so that an SQL injection cannot run programs. The superuser has no
# password and can sign in from inside its container only.
set -eu
has_arena=$(psql --username postgres --tuples-only --command "SELECT 1 FROM pg_database WHERE datname = 'arena'")
# The image names its directories by version: beside another one, this new cluster would be an empty arena.
for other in "${PGDATA:-/nowhere}"/../../*/docker/PG_VERSION; do
    if [ -z "$has_arena" ] && [ -e "$other" ] && ! [ "$other" -ef "$PGDATA/PG_VERSION" ]; then
        echo "The volume has the database of PostgreSQL $(cat "$other"), which this version does not read: back it up with" \
            "that version's image and restore it into an empty volume (docs/operating.md, Update)." >&2
        rm -rf "${PGDATA:?}"/* # or the next start would find a cluster without roles
        exit 1
    fi
done
psql --username postgres --set ON_ERROR_STOP=1 \
    --set password="$POSTGRES_PASSWORD" --set site_password="$POSTGRES_SITE_PASSWORD" <<'SQL'
SELECT format('CREATE ROLE %I LOGIN', name) FROM (VALUES ('arena'), ('arena_site')) AS wanted (name)
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE arena PASSWORD :'password';
ALTER ROLE arena_site PASSWORD :'site_password';
SELECT 'CREATE DATABASE arena OWNER arena' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'arena') \gexec
ALTER ROLE postgres PASSWORD NULL;
SQL
