#!/usr/bin/env bash
# go-programs.sh CACHE NAME…: builds programs of Go from the module proxy into CACHE/go/NAME-VERSION, once.
# check-containers.sh runs it in a mount namespace of its own.
set -euo pipefail
cache=$1
sources=$(cd "$(dirname "$0")" && pwd)
KUBERNETES=36.4 # 1.36.4, which Debian's kubectl has too
KWOK=0.8.0
MAILPIT=1.33.1
STRIPE=0.203.0
COLLECTOR=0.165.0

export GOTOOLCHAIN=local GOFLAGS='-p=2 -mod=mod -modcacherw -buildvcs=false -trimpath' CGO_ENABLED=0
export GOPATH=$cache/go GOCACHE=$cache/go/build GOMODCACHE=$cache/go/mod
go=(go)
if [ -e "$cache/golang" ]; then
  root=$(realpath "$cache/golang")
  mkdir -p "$root$cache"
  mount --bind "$cache" "$root$cache"
  mount --rbind /dev "$root/dev"
  cp /etc/resolv.conf "$root/etc"
  cat "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" > "$root/etc/authorities.pem"
  export SSL_CERT_FILE=/etc/authorities.pem
  unset SSL_CERT_DIR
  go=(chroot "$root" go)
fi

# Kubernetes names its own modules v0.0.0 and replaces them in its go.mod, which counts only in the main module.
kubernetes() {
  local work=$cache/go/wrap folder=$cache/go/kubernetes-1.$KUBERNETES manifest module
  [ -e "$folder" ] && return
  rm -rf "$work"
  mkdir -p "$work"
  "${go[@]}" -C "$work" mod init wrap
  manifest=$("${go[@]}" -C "$work" mod download -json "k8s.io/kubernetes@v1.$KUBERNETES" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
  "${go[@]}" -C "$work" mod edit -require "k8s.io/kubernetes@v1.$KUBERNETES"
  for module in $(grep -oE 'k8s\.io/\S+ v0\.0\.0$' "$manifest" | cut -d' ' -f1); do
    "${go[@]}" -C "$work" mod edit -replace "$module=$module@v0.$KUBERNETES"
  done
  "${go[@]}" -C "$work" build -ldflags='-s -w' -o "$work/bin/" \
    k8s.io/kubernetes/cmd/kube-{apiserver,controller-manager,scheduler}
  mv "$work/bin" "$folder"
}

# kwok, and its stages of nodes and pods: a pod is ready, completes and ends a moment after it may.
kwok() {
  local folder=$cache/go/kwok-$KWOK stages=$cache/go/mod/sigs.k8s.io/kwok@v$KWOK/kustomize/stage file
  [ -e "$folder" ] && return
  GOBIN=$cache/go/kwok "${go[@]}" install -ldflags='-s -w' "sigs.k8s.io/kwok/cmd/kwok@v$KWOK"
  for file in "$stages"/node/fast/node-initialize.yaml "$stages"/pod/fast/pod-{ready,complete,delete}.yaml; do
    sed '1i ---
      s/^  next:/  delay: { durationMilliseconds: 1500 }\n  next:/' "$file"
  done > "$cache/go/kwok/stages.yaml"
  mv "$cache/go/kwok" "$folder"
}

# What stands around an installation and Debian has not.
neighbours() {
  local work=$cache/go/wrap folder=$cache/go/neighbours-$MAILPIT-$STRIPE-$COLLECTOR module=go.opentelemetry.io/collector
  [ -e "$folder" ] && return
  rm -rf "$work"
  mkdir -p "$work/bin"
  cp "$sources/neighbours/collector/main.go" "$work"
  GOBIN=$work/bin "${go[@]}" install "github.com/axllent/mailpit@v$MAILPIT"
  GOBIN=$work/bin "${go[@]}" install "github.com/stripe/stripe-mock@v$STRIPE"
  cp "$cache/go/mod/github.com/stripe/stripe-mock@v$STRIPE/embedded/openapi/fixtures3.json" "$work/bin"
  "${go[@]}" -C "$work" mod init collector
  "${go[@]}" -C "$work" get "$module"/{component/componenttest,receiver/otlpreceiver,receiver/receivertest}@v$COLLECTOR
  "${go[@]}" -C "$work" build -o bin/collector .
  mv "$work/bin" "$folder"
}

for name in "${@:2}"; do "$name"; done
# What was read to build them is not needed again.
rm -rf "$cache"/go/{build,mod,pkg,wrap}
