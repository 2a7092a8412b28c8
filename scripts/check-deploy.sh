#!/usr/bin/env bash
# Checks the files of deploy/ with the tools that are installed. A tool that is absent is named as skipped, on a line of
# its own, and fails nothing.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# The project's own Node, also where npm does not start this.
PATH=$PWD/node_modules/.bin:$PATH

failed=0
kustomize=(kustomize build)
command -v kustomize > /dev/null || kustomize=(kubectl kustomize)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# check TOOL WHAT COMMAND…: runs the command where the tool is installed.
check() {
  if ! command -v "$1" > /dev/null; then
    echo "skipped: $2 ($1 is not installed)"
  elif "${@:3}" > "$scratch/out" 2>&1; then
    echo "ok: $2"
  else
    echo "FAILED: $2"
    cat "$scratch/out"
    failed=1
  fi
}

# shellcheck disable=SC2329 # `check` invokes it
manifests() { "${kustomize[@]}" "deploy/kubernetes/$1" > "$scratch/$1.yaml"; }
# shellcheck disable=SC2329 # `check` invokes it
compose() { docker compose -f deploy/compose.yaml --env-file deploy/compose/trial.env config --quiet; }

# audit: what the registry knows against production dependencies. It informs and fails nothing.
audit() {
  if ! npm audit --omit=dev > "$scratch/audit" 2>&1 && ! grep -q 'Severity' "$scratch/audit"; then
    echo 'skipped: known faults of dependencies (the registry does not answer npm audit)'
  else
    echo "known faults of dependencies: $(grep -E '^(found )?[0-9]+ .*vulnerabilit' "$scratch/audit" | tail -1)"
    grep -E '^Severity|^https?://|^[a-z@].*[<>=]' "$scratch/audit"
  fi
}

check node 'licences of production dependencies' node scripts/licences.ts
cat "$scratch/out"
audit
check hadolint 'the Dockerfile' hadolint deploy/Dockerfile
check shellcheck 'shell scripts' shellcheck scripts/*.sh deploy/backup/*.sh test/containers/engines/*.sh
if docker compose version > /dev/null 2>&1; then
  check docker 'the compose file' compose
else
  echo 'skipped: the compose file (docker compose is not installed)'
fi
for overlay in base three-brokers restore-finish; do
  check "${kustomize[0]}" "manifests of $overlay can be built" manifests "$overlay"
  if [ -s "$scratch/$overlay.yaml" ]; then
    check kubernetes-validate "manifests of $overlay fit their schemas" kubernetes-validate --strict "$scratch/$overlay.yaml"
  else
    echo "skipped: manifests of $overlay fit their schemas (they were not built)"
  fi
done
# kubernetes.yaml beside it is not checked: Debian's promtool is built without the discovery of Kubernetes.
check promtool "Prometheus' configuration for compose" promtool check config deploy/prometheus/prometheus.yaml
check promtool "Prometheus' rules" promtool check rules deploy/prometheus/alerts.yaml
check promtool "Prometheus' rules fire when they must" promtool test rules deploy/prometheus/alerts.test.yaml
exit "$failed"
