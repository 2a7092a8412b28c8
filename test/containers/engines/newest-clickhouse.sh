#!/usr/bin/env bash
# newest-clickhouse.sh COMMAND…: runs a command, for example `npx vitest run --project integration test/integration/archive`,
# with the newest ClickHouse of PyPI as the embedded engine, which may be ahead of npm's by months. CLICKHOUSE_PROFILE
# ("join_use_nulls = 1, …") are settings that each session begins with, like those of a server's default profile.
set -euo pipefail
cd "$(dirname "$0")/../../.."
version=${CHDB_VERSION:-26.9.0}
folder=${XDG_CACHE_HOME:-$HOME/.cache}/forum-monitor/clickhouse-$version
if ! [ -e "$folder/wheel" ]; then
  mkdir -p "$folder"
  python3 -m pip install --quiet --no-deps --only-binary :all: --target "$folder/new" "chdb-core==$version" ||
    { echo "skipped: chdb-core $version cannot be had of PyPI" && exit; }
  mv "$folder/new" "$folder/wheel"
fi
cp test/containers/engines/newest-clickhouse/* "$folder"
echo '{ "name": "chdb", "type": "module", "exports": "./session.mjs" }' > "$folder/package.json"
# Seen by this command alone.
unshare --mount true 2> /dev/null || { echo 'skipped: a mount of its own needs root' && exit; }
exec unshare --mount bash -ec 'mount --bind "$0" node_modules/chdb; exec "$@"' "$folder" "$@"
