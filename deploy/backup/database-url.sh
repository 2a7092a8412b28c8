#!/usr/bin/env bash
# Read by the scripts beside it: makes `url` of DATABASE_URL. Arguments are visible to every user of a machine, so the
# password before the @ goes through the environment.
url=${DATABASE_URL:?the PostgreSQL server}
if [[ $url =~ ^([a-z]+://[^:@/?]*):([^@/?]*)@(.*)$ ]]; then
  url="${BASH_REMATCH[1]}@${BASH_REMATCH[3]}"
  password=${BASH_REMATCH[2]//\\/\\\\}
  PGPASSWORD=$(printf '%b' "${password//%/\\x}")
  export PGPASSWORD
fi
# Of several hosts, the one that takes writes: after a fail-over the first may be a standby that lags behind.
export PGTARGETSESSIONATTRS=primary
