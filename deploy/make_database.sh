#!/bin/sh
# Once, when PostgreSQL makes its files: the arena owns its own database and is no superuser, so that an SQL injection
# cannot run programs. The superuser gets no password and is reached from inside its container only.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE arena LOGIN PASSWORD :'password';
CREATE DATABASE arena OWNER arena;
ALTER ROLE postgres PASSWORD NULL;
SQL
