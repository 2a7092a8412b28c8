#!/usr/bin/env bash
# As the official image does: an empty volume becomes a server with POSTGRES_USER and POSTGRES_DB; other commands than
# `postgres` run as they are.
set -euo pipefail
[ "$1" = postgres ] || exec "$@"
export PGDATA=/var/lib/postgresql/18/docker
if [ "$(id -u)" = 0 ]; then
  install --directory --owner=postgres --group=postgres --mode=0700 /var/lib/postgresql/18 "$PGDATA" /run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups bash "$0" "$@"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  # shellcheck disable=SC2086 # several options
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust \
    --auth-host=scram-sha-256 $POSTGRES_INITDB_ARGS
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  pg_ctl start --wait --options="-c listen_addresses=''"
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl stop --wait
fi
exec "$@"
