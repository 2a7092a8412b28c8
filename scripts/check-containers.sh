#!/usr/bin/env bash
# `npm run check:containers`: builds deploy/Dockerfile and runs deploy/compose.yaml with Podman, on a machine without
# any container engine, and applies deploy/kubernetes to a control plane. What Debian's packages bring is unpacked into
# the user's cache folder and run in namespaces, so nothing is installed, no port is opened and no process is left.
# test/containers/main.ts goes on there. `-- kubernetes` runs this part only.
set -euo pipefail
cd "$(dirname "$0")/.."

# --enter ROOT STORE STAGE…: the first process of the namespaces makes ROOT its root, because containers that are entered later
# would see the machine's root from within a chroot.
if [ "${1:-}" = --enter ]; then
  root=$2
  mount --bind "$root" "$root"
  mkdir -p "$root/project" "$root/images" "$root/var/lib/containers" "$root/old"
  mount --bind . "$root/project"
  mount --bind "$(dirname "$root")" "$root/images"
  mount --bind "$3" "$root/var/lib/containers"
  mount --rbind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/run"
  mount -t tmpfs tmpfs "$root/tmp"
  cp /etc/resolv.conf "$root/etc"
  cd "$root"
  pivot_root . old
  umount --lazy /old
  unset XDG_CACHE_HOME XDG_RUNTIME_DIR NODE_EXTRA_CA_CERTS NODE_OPTIONS
  # Without systemd nothing runs Podman's health checks, so main.ts does.
  export HOME=/root TMPDIR=/tmp DISABLE_HC_SYSTEMD=true
  export PATH=/project/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  for stage in "${@:4}"; do
    # What runs reaches nothing outside of this machine.
    if [ "$stage" != build ]; then apart=(unshare --net); else apart=(); fi
    "${apart[@]}" bash /project/scripts/check-containers.sh --stage "$stage"
  done
  exit
fi
if [ "${1:-}" = --stage ]; then
  mount -t sysfs sysfs /sys
  # A hierarchy of its own: the machine's may be of the old kind.
  mount -t cgroup2 cgroup /sys/fs/cgroup
  ip link set lo up
  exec node /project/test/containers/main.ts "$2"
fi

parts=(compose kubernetes)
for part in "$@"; do
  [[ " ${parts[*]} " = *" $part "* ]] || {
    echo "check:containers has no part $part. It has: ${parts[*]}" >&2
    exit 2
  }
done
[ $# = 0 ] || parts=("$@")
has() { [[ " ${parts[*]} " = *" $1 "* ]]; }

skip() {
  echo "skipped: deploy/ in containers ($1)"
  exit 0
}
[ "$(uname -s) $(id -u)" = 'Linux 0' ] || skip 'it needs Linux and root'
unshare --mount --pid --net --cgroup --fork true 2> /dev/null || skip 'this machine allows no namespaces'
for tool in apt-get dpkg-deb perl chroot ip tar; do
  command -v "$tool" > /dev/null || skip "$tool is not installed"
done

cache=${XDG_CACHE_HOME:-$HOME/.cache}/forum-monitor/containers
mkdir -p "$cache"
log=$cache/packages.log
started=$SECONDS

if ! command -v mmdebstrap > /dev/null; then
  if ! [ -x "$cache/mmdebstrap/usr/bin/mmdebstrap" ]; then
    apt=(-o "Dir::State::lists=$cache/lists" -o "Dir::Cache=$cache" -o APT::Sandbox::User=root)
    mkdir -p "$cache/lists/partial" "$cache/archives/partial"
    (apt-get "${apt[@]}" update && cd "$cache" && apt-get "${apt[@]}" download mmdebstrap) > "$log" 2>&1 ||
      skip "mmdebstrap cannot be fetched: $(tail -1 "$log")"
    dpkg-deb -x "$cache"/mmdebstrap_*.deb "$cache/mmdebstrap"
  fi
  PATH=$PATH:$cache/mmdebstrap/usr/bin
fi
# What the machine's apt needs to reach its packages.
apt-config dump Acquire::Check-Valid-Until Acquire::Check-Date Acquire::http::Proxy Acquire::https::Proxy > "$cache/apt.conf"

# unpack NAME SUITE VARIANT [PACKAGES]: begins to make a folder of the cache with these packages of Debian, once.
making=()
unpack() {
  local folder fresh
  folder=$cache/$1-$(sha256sum <<< "$*" | head -c 8) fresh=$cache/new-$1
  ln -sfn "$(basename "$folder")" "$cache/$1"
  [ -e "$folder" ] && return
  echo "unpacking Debian's packages for $1 (once)"
  (
    rm -rf "$fresh"
    mmdebstrap --mode=root --variant="$3" --format=directory --aptopt="$cache/apt.conf" --dpkgopt=force-unsafe-io \
      ${4:+--include="$4"} "$2" "$fresh"
    if [ "$1" = base ]; then
      # What the official image of Node has: the binary, npm, and the user 1000.
      install -D node_modules/node-linux-*/bin/node "$fresh/usr/local/bin/node"
      mkdir -p "$fresh/usr/local/lib/node_modules"
      cp -R "$(npm root --global)/npm" "$fresh/usr/local/lib/node_modules"
      ln -s ../lib/node_modules/npm/bin/npm-cli.js "$fresh/usr/local/bin/npm"
      chroot "$fresh" useradd --user-group --uid 1000 --create-home --shell /bin/bash node
    fi
    find "$fresh/usr/share/doc" -type f ! -name copyright -delete
    rm -rf "$fresh"/usr/share/{locale,man}/* "$fresh/var/lib/apt/lists"/*
    mv "$fresh" "$folder"
  ) > "$cache/$1.log" 2>&1 &
  making+=("$!:$1")
}
if has compose; then
  unpack base bookworm minbase
  unpack engines forky essential postgresql-18,openjdk-21-jre-headless,wget
  unpack neighbours forky essential nginx,openssl,prometheus,prometheus-node-exporter
  unpack tools forky essential podman,podman-compose,crun,netavark,aardvark-dns,nftables,iproute2,catatonit,mount,libstdc++6
fi
if has kubernetes; then
  unpack kubernetes forky essential kubernetes-client,kustomize,etcd-server,openjdk-21-jre-headless,iproute2,mount,libstdc++6
fi
# A Go of this machine that is new enough, else Debian's.
rm -f "$cache/golang"
version=$(GOTOOLCHAIN=local go env GOVERSION 2> /dev/null || true)
[ "$(printf '%s\n' go1.26 "$version" | sort -V | head -1)" = go1.26 ] || unpack golang forky essential golang-go
for job in "${making[@]}"; do
  wait "${job%%:*}" || skip "Debian's packages cannot be had: $(grep -m 1 '^E: ' "$cache/${job#*:}.log")"
done
echo "Debian's packages: $((SECONDS - started)) s"

# go_programs NAME…: builds them, once. Returns with 1 and a line where they cannot be had.
go_programs() {
  local from=$SECONDS log=$cache/go-$1.log
  compgen -G "$cache/go/$1-*" > /dev/null || echo "building Go's programs for $1 (once; those of Kubernetes take ten minutes)"
  if ! unshare --mount --propagation private bash test/containers/go-programs.sh "$cache" "$@" > "$log" 2>&1; then
    echo "skipped: $1 (Go's programs cannot be had: $(tail -1 "$log"))"
    return 1
  fi
  echo "Go's programs for $1: $((SECONDS - from)) s"
}

if has kubernetes && go_programs kubernetes kwok; then
  npx --no-install node test/containers/fetch-jars.ts strimzi "$cache/strimzi"
  unshare --mount --propagation private --pid --fork --kill-child --cgroup \
    bash "$0" --enter "$(realpath "$cache/kubernetes")" "$cache/strimzi" kubernetes
fi
has compose || exit 0
tools=$(realpath "$cache/tools")

# What the build needs to reach the registry as this user does; it is mounted, so it stays out of the image.
mkdir -p "$cache/npm" "$cache/kafka"
(
  umask 077
  cat "$(npm config get userconfig)" > "$cache/npm/npmrc" 2> /dev/null || true
  authorities=${NODE_EXTRA_CA_CERTS:-$(npm config get cafile)}
  if [ -f "$authorities" ]; then
    cp "$authorities" "$cache/npm/authorities.pem"
    echo 'cafile=/usr/local/etc/authorities.pem' >> "$cache/npm/npmrc"
  fi
)
npx --no-install node test/containers/fetch-jars.ts kafka "$cache/kafka"
go_programs neighbours || true

# Container engines write here; the machine's limits are theirs, because not even root can raise them everywhere.
cat > "$tools/etc/containers/containers.conf" << CONF
[containers]
default_ulimits = ["nofile=$(ulimit -Hn):$(ulimit -Hn)", "nproc=$(ulimit -Hu):$(ulimit -Hu)"]
pids_limit = 0
log_driver = "k8s-file"
[engine]
# Otherwise Podman itself listens on a published port while its container is not there yet, and requests hang.
enable_port_reservation = false
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
store=$cache/store
rm -rf "$store"
mkdir "$store"
trap 'rm -rf "$store" "$cache/npm"' EXIT
unshare --mount --propagation private --pid --fork --kill-child --cgroup bash "$0" --enter "$tools" "$store" build run
echo "deploy/ ran in containers; all of it took $((SECONDS / 60)) min $((SECONDS % 60)) s"
