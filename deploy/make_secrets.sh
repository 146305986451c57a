#!/bin/sh
# New secrets for .env; run it once: deploy/make_secrets.sh >> .env
set -eu
echo "SECRET_KEY=$(head -c 48 /dev/urandom | base64 -w 0)"
# 32 bytes as Fernet wants them.
echo "ARENA_ENCRYPTION_KEYS=$(head -c 32 /dev/urandom | base64 -w 0 | tr '+/' '-_')"
echo "POSTGRES_PASSWORD=$(head -c 24 /dev/urandom | base64 -w 0 | tr '+/' '-_')"
echo "POSTGRES_SITE_PASSWORD=$(head -c 24 /dev/urandom | base64 -w 0 | tr '+/' '-_')"
