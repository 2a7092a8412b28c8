#!/usr/bin/env bash
# Restores what back-up.sh wrote into the empty database of DATABASE_URL. No service may run until `restore finish` was
# run, which this prints: without it, numbers of matches would be given again.
#   DATABASE_URL=postgres://… bash deploy/backup/restore.sh FOLDER
set -euo pipefail

folder=${1:?the folder of the backup}
: "${DATABASE_URL:?the empty database to restore into}"
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/database-url.sh"
taken_at=$(cat "$folder/taken-at")
if [ "$(psql --no-psqlrc --tuples-only --no-align --command="SELECT to_regclass('monitors') IS NULL" "$url")" != t ]; then
  echo 'The database is not empty.' >&2
  exit 1
fi
pg_restore --exit-on-error --single-transaction --no-owner --no-acl --dbname="$url" "$folder/forum.dump"
echo 'Before any service starts, with KAFKA_BROKERS, DATABASE_URL and SECRET_KEY set:'
echo "npm run --silent admin -- restore finish --taken-at $taken_at"
