#!/bin/sh
set -eu
if [ ! -e "$PGDATA" ]; then
    # shellcheck disable=SC2086
    initdb -D "$PGDATA" -U postgres $POSTGRES_INITDB_ARGS
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -D "$PGDATA" -w -o "-c listen_addresses= -k /tmp" start
    for script in /docker-entrypoint-initdb.d/*; do "$script"; done
    pg_ctl -D "$PGDATA" -w stop
fi
exec "$@" -D "$PGDATA" -k /tmp -c "listen_addresses=*"
