#!/usr/bin/env bash
# Dumps the PostgreSQL server of DATABASE_URL into a new folder. Services go on meanwhile. Needs pg_dump of the server's
# version or a later one. docs/operate/backup.md says how to restore.
#   DATABASE_URL=postgres://… bash deploy/backup/back-up.sh FOLDER
set -euo pipefail

folder=${1:?the folder for the backup}
: "${DATABASE_URL:?the server to back up}"
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/database-url.sh"
umask 077
mkdir "$folder"
# What is left of a failure holds secrets, fills the disk, and stands in the way of the next try.
trap 'rm -rf "$folder"; echo "No backup was made; $folder is removed." >&2' EXIT
# Before the dump's snapshot, so that nothing after it is missed.
taken_at=$(date -u +%Y-%m-%dT%H:%M:%SZ)
run pg_dump --format=custom --no-owner --no-acl --file="$folder/forum.dump" "$url"
# Written last: a folder without it is no complete backup.
echo "$taken_at" > "$folder/taken-at"
trap - EXIT
echo "backed up to $folder, taken at $taken_at; keep SECRET_KEY elsewhere"
