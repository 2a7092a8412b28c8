#!/usr/bin/env bash
# Checks the requests to Stripe against Stripe's own mock server, which knows the description of its API. Takes
# stripe-mock from the PATH, or builds it with Go into .stripe-mock/ once. Needs what `npm test` needs.
set -euo pipefail
cd "$(dirname "$0")/.."

VERSION=v0.203.0

if ! command -v stripe-mock > /dev/null; then
  if [ ! -x .stripe-mock/stripe-mock ]; then
    if ! command -v go > /dev/null; then
      echo "skipped: neither stripe-mock nor go is installed" >&2
      exit 0
    fi
    GOBIN="$PWD/.stripe-mock" go install "github.com/stripe/stripe-mock@$VERSION"
  fi
  export PATH="$PWD/.stripe-mock:$PATH"
fi

exec npm test -- test/integration/payments/stripe-mock.test.ts
