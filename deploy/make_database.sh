#!/bin/sh
# Run when PostgreSQL creates its cluster; safe to repeat. `arena` owns the arena's database, `arena_site` only uses it
# (arena_site/site_role.sql). Neither is a superuser, so that an SQL injection cannot run programs. The superuser has no
# password and can sign in from inside its container only.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 \
    --set password="$POSTGRES_PASSWORD" --set site_password="$POSTGRES_SITE_PASSWORD" <<'SQL'
SELECT format('CREATE ROLE %I LOGIN', name) FROM (VALUES ('arena'), ('arena_site')) AS wanted (name)
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE arena PASSWORD :'password';
ALTER ROLE arena_site PASSWORD :'site_password';
SELECT 'CREATE DATABASE arena OWNER arena' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'arena') \gexec
ALTER ROLE postgres PASSWORD NULL;
SQL
