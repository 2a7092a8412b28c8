#!/usr/bin/env bash
# Fuzz tests of a running API with schemathesis, by its own description: `npm start`, then in a second terminal `npm run fuzz`, or
# `npm run fuzz -- --seed 7 --max-examples 500` with options of schemathesis. Ends with exit code 1 when an answer is a 5xx, or is
# not as /openapi.json says.
#
# API: where it answers (http://localhost:8080). API_KEY: whose credits are spent (that of the demo account in DATA_DIR).
# Needs Python 3.10 or newer; schemathesis is installed into .fuzz/ once.
set -euo pipefail
cd "$(dirname "$0")/.."

VERSION=4.32.5
API=${API:-http://localhost:8080}
API_KEY=${API_KEY:-$(cat "${DATA_DIR:-.data}/demo-key")}

if [ ! -x ".fuzz/$VERSION/bin/schemathesis" ]; then
  python3 -m venv ".fuzz/$VERSION"
  ".fuzz/$VERSION/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$VERSION"
fi

# Not checked: that whatever fits the description is accepted. It cannot say that two parameters must name the same post, or that a
# monitor has to exist. Not asked: what would end the account or its key, and a stream, which has no end.
exec ".fuzz/$VERSION/bin/schemathesis" run "$API/openapi.json" \
  --header "Authorization: Bearer $API_KEY" \
  --phases examples,coverage,fuzzing \
  --exclude-checks positive_data_acceptance \
  --exclude-operation-id deleteAccount --exclude-operation-id revokeKey --exclude-operation-id streamMatches \
  --rate-limit 20/s \
  --continue-on-failure --request-timeout 30 "$@"
