#!/usr/bin/env bash
# Dumps the PostgreSQL server of DATABASE_URL into a new folder. Services go on meanwhile. Needs pg_dump of the server's
# version or a later one. README.md beside this file says how to restore.
#   DATABASE_URL=postgres://… bash deploy/backup/back-up.sh FOLDER
set -euo pipefail

folder=${1:?the folder for the backup}
: "${DATABASE_URL:?the server to back up}"
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/database-url.sh"
umask 077
mkdir "$folder"
# Before the dump's snapshot, so that nothing after it is missed.
taken_at=$(date -u +%Y-%m-%dT%H:%M:%SZ)
pg_dump --format=custom --no-owner --no-acl --file="$folder/forum.dump" "$url"
# Written last: a folder without it is no complete backup.
echo "$taken_at" > "$folder/taken-at"
echo "backed up to $folder, taken at $taken_at; keep SECRET_KEY elsewhere"
