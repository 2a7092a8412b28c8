#!/usr/bin/env bash
# Lays out the file system of the container image in a folder, by the steps of deploy/Dockerfile, for machines without
# Docker: scripts/image-root.sh FOLDER [--from-node-modules]. The user's Node takes the place of the base image's. With
# --from-node-modules the production dependencies are copied from node_modules/, where the registry is out of reach.
set -euo pipefail
cd "$(dirname "$0")/.."

app=${1:?"the folder to make"}/app
mkdir -p "$app/scripts" "$app/deploy"

# step: install; the image brings its own Node
cp package.json package-lock.json .npmrc LICENSE "$app"
cp scripts/check-node.mjs "$app/scripts"
cp -R patches "$app"
if [ "${2:-}" = --from-node-modules ]; then
  # Parents come before what is nested in them, and bring it along.
  node -p "Object.entries(require('./package-lock.json').packages).filter(([path, { dev, devOptional }]) =>
    path !== '' && !dev && !devOptional).map(([path]) => path).join('\n')" | while read -r path; do
    if [ -d "$path" ] && [ ! -e "$app/$path" ]; then
      mkdir -p "$app/$(dirname "$path")"
      cp -R "$path" "$app/$path"
    fi
  done
else
  (cd "$app" && npm ci --omit=dev > /dev/null)
fi
rm -rf "$app"/node_modules/node-linux-* "$app"/node_modules/node-darwin-* "$app"/node_modules/node-bin-* "$app/node_modules/node"
find "$app/node_modules" -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# step: describe
(cd "$app" && npm sbom --package-lock-only --omit=dev --sbom-format cyclonedx > sbom.cdx.json)

# step: copy
cp -R schemas shared services docs "$app"
cp deploy/healthcheck.mjs "$app/deploy"
rm -rf "$app/scripts" "$app/patches" "$app/package-lock.json" "$app/.npmrc"

du -sk "$app" | awk '{ printf "%d MB, of which node_modules ", $1 / 1024 }'
du -sk "$app/node_modules" | awk '{ printf "%d MB\n", $1 / 1024 }'
