#!/usr/bin/env bash
# go-programs.sh FOLDER: builds the programs of neighbours/compose.yaml that Debian has not, once, at these versions.
set -euo pipefail
sources=$(cd "$(dirname "$0")" && pwd)
folder=$1
export GOBIN=$folder/programs GOCACHE=$folder/go-cache GOMODCACHE=$folder/go-modules CGO_ENABLED=0 GOFLAGS='-p=2 -modcacherw -buildvcs=false'
mkdir -p "$GOBIN"
cd "$folder"

# install MODULE VERSION [FILE]: and keeps a file of the module's beside the program.
install() {
  [ -e "$GOBIN/.$(basename "$1")-$2" ] && return
  go install -trimpath "$1@$2"
  [ -z "${3:-}" ] || cp "$GOMODCACHE/$1@$2/$3" "$GOBIN"
  touch "$GOBIN/.$(basename "$1")-$2"
}
install github.com/axllent/mailpit v1.33.1
install github.com/stripe/stripe-mock v0.203.0 embedded/openapi/fixtures3.json

collector=go.opentelemetry.io/collector
version=v0.165.0
if ! [ -e "$GOBIN/.collector-$version" ]; then
  rm -rf made && mkdir made && cp "$sources/collector/main.go" made && cd made
  go mod init collector
  go get "$collector/"{component/componenttest,receiver/otlpreceiver,receiver/receivertest}@$version
  go mod tidy
  go build -trimpath -o "$GOBIN/collector" .
  touch "$GOBIN/.collector-$version"
fi
# What was read to build them is not needed again.
rm -rf "$folder"/{go-cache,go-modules,made}
