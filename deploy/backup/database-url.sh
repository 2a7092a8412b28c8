#!/usr/bin/env bash
# Read by the scripts beside it: makes `url` of DATABASE_URL, which the services read by other rules than libpq, and
# defines `run`.
url=${DATABASE_URL:?the PostgreSQL server}

# take NAME: takes a parameter out of the URL.
take() {
  [[ $url =~ ^(.*[?&])$1=([^&]*)\&?(.*)$ ]] || return 1
  url=${BASH_REMATCH[1]}${BASH_REMATCH[3]} taken=${BASH_REMATCH[2]}
}

# Arguments are visible to every user of a machine, so the password goes through the environment.
if take password; then
  secret=$taken
elif [[ $url =~ ^([a-z]+://[^:/?]*):([^/?]*)@(.*)$ ]]; then
  url=${BASH_REMATCH[1]//@/%40}@${BASH_REMATCH[3]} secret=${BASH_REMATCH[2]}
fi
if [ -n "${secret-}" ]; then
  secret=${secret//\\/\\\\}
  PGPASSWORD=$(printf '%b' "${secret//%/\\x}")
  export PGPASSWORD
fi
take uselibpqcompat || true
url=${url/sslmode=no-verify/sslmode=require}
# Without a file of authorities, the services trust those that are well known.
if [[ $url == *sslmode=verify-full* && $url != *sslrootcert=* ]]; then
  export PGSSLROOTCERT=${PGSSLROOTCERT:-system}
fi
# Of several hosts, the one that takes writes: after a fail-over the first may be a standby that lags behind.
export PGTARGETSESSIONATTRS=primary

# run COMMAND…: runs it until this script ends. Bash alone would leave it running, with its snapshot or its transaction.
run() {
  "$@" &
  local child=$!
  trap 'kill "$child"' HUP INT TERM
  # A signal ends the first wait, and the command the second.
  wait "$child" || wait "$child"
}
