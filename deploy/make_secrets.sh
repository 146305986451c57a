#!/bin/sh
# Adds missing secrets to .env: deploy/make_secrets.sh [FILE]. Existing secrets are kept.
set -eu
umask 077
[ $# -gt 0 ] || cd "$(dirname "$0")/.."
file=${1:-.env}
if [ ! -f "$file" ]; then
    echo "There is no $file: cp .env.example .env" >&2
    exit 1
fi
chmod 600 "$file"
added=

# Messages go to standard error, because standard output may be redirected to .env.
add() {
    if grep -q "^[[:space:]]*\(export[[:space:]]\+\)\?$1=." "$file"; then
        echo "$1 is set already and stays as it is." >&2
    else
        printf '%s=%s\n' "$1" "$2" >> "$file"
        added="$added $1"
    fi
}

# The last line may lack its newline.
[ -z "$(tail -c 1 "$file")" ] || echo >> "$file"
add SECRET_KEY "$(head -c 48 /dev/urandom | base64 -w 0)"
# A Fernet key: 32 bytes in URL-safe base64.
add ARENA_ENCRYPTION_KEYS "$(head -c 32 /dev/urandom | base64 -w 0 | tr '+/' '-_')"
add POSTGRES_PASSWORD "$(head -c 24 /dev/urandom | base64 -w 0 | tr '+/' '-_')"
add POSTGRES_SITE_PASSWORD "$(head -c 24 /dev/urandom | base64 -w 0 | tr '+/' '-_')"
add VALKEY_PASSWORD "$(head -c 24 /dev/urandom | base64 -w 0 | tr '+/' '-_')"
if grep -q '^[[:space:]]*COMPOSE_PROFILES=.*monitoring' "$file"; then
    add ARENA_METRICS_TOKEN "$(head -c 24 /dev/urandom | base64 -w 0 | tr '+/' '-_')"
fi
if [ -z "$added" ]; then
    echo "Nothing was added." >&2
    exit 1
fi
echo "Added to $file:$added. Keep a copy of it." >&2
