#!/usr/bin/env bash
# Restores what back-up.sh wrote into the empty database of DATABASE_URL. No service may run until `restore finish` was
# run, which this prints: without it, numbers of matches would be given again.
#   DATABASE_URL=postgres://… bash deploy/backup/restore.sh FOLDER
set -euo pipefail

folder=${1:?the folder of the backup}
: "${DATABASE_URL:?the empty database to restore into}"
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/database-url.sh"
taken_at=$(cat "$folder/taken-at" || true)
if ! [[ $taken_at =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$ ]]; then
  echo "$folder is no complete backup: its file taken-at, which back-up.sh writes last, has no time." >&2
  exit 1
fi
is_empty=$(psql --no-psqlrc --tuples-only --no-align --command="SELECT to_regclass('monitors') IS NULL" "$url")
if [ "$is_empty" != t ]; then
  echo 'Nothing was restored: the database has tables of the service. Name an empty database in DATABASE_URL.' >&2
  exit 1
fi
trap 'echo "Nothing was restored: the database is as before. Mend what pg_restore reported, and run this again." >&2' EXIT
# Extensions are of the server, such as pg_stat_statements of a managed one: only a superuser may restore them.
list=$(pg_restore --list "$folder/forum.dump" | sed '/ EXTENSION /d')
run pg_restore --exit-on-error --single-transaction --no-owner --no-acl --use-list=<(echo "$list") --dbname="$url" \
  "$folder/forum.dump"
trap - EXIT
echo 'Before any service starts, with KAFKA_BROKERS, DATABASE_URL and SECRET_KEY set:'
echo "npm run --silent admin -- restore finish --taken-at $taken_at"
