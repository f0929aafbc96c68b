#!/usr/bin/env bash
# Sets up what the commands need, and nothing twice: each part carries a stamp of what it was made from.
#
#   scripts/setup.sh run   the packages that serve, and the browser's libraries
#   scripts/setup.sh dev   those, the checkers and test tools, and a Chromium
#
# Works as root or not. Where it cannot, it says what is missing and what to do, and exits with 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

level="${1:?expected run or dev}"
venv_python=.venv/bin/python

say() { printf 'set-up: %s\n' "$*"; }
fail() { printf 'set-up: %s\n' "$@" >&2; exit 1; }

# What a part was made from: its level, the place (a moved tree has wrong paths in it), the contents of some files.
stamp_of() { local level="$1"; shift; echo "$level $({ pwd; cat "$@"; } | cksum)"; }
is_stamped() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }
# What was made for tests serves as well: `make run` never takes it back to less.
level_of() { case "$(cat "$1" 2>/dev/null)" in dev*) echo dev ;; *) echo "$level" ;; esac; }

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys, sqlite3; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  fail "no Python 3.11 or newer found (with its sqlite3 module)" \
    "install one (Debian: apt-get install python3 python3-venv python3-pip), or name it: make PYTHON=/path/to/python3"
}

# Debian ships venv without the pip that it should put there, and some Pythons have no venv at all.
make_venv() {
  local python="$1" tools
  rm -rf .venv
  "$python" -m venv .venv >/dev/null 2>&1 && return
  if "$python" -m pip --version >/dev/null 2>&1; then
    say "venv cannot install pip here; using virtualenv"
    rm -rf .venv
    tools="$(mktemp -d)"
    "$python" -m pip install -qq --disable-pip-version-check --target "$tools" virtualenv ||
      fail "cannot install virtualenv with $python -m pip; the message above says why"
    PYTHONPATH="$tools" "$python" -m virtualenv -q .venv || fail "virtualenv failed; the message above says why"
    rm -rf "$tools"
    return
  fi
  fail "$python has neither a working venv nor pip" "install them (Debian: apt-get install python3-venv python3-pip)"
}

set_up_python() {
  local stamp=.venv/.coppice-stamp locks=(requirements-build.lock requirements.lock) made want lock python options=()
  made="$(level_of "$stamp")"
  [ "$made" = dev ] && locks=(requirements-dev.lock)
  want="$(stamp_of "$made" "${locks[@]}" pyproject.toml)"
  if is_stamped "$stamp" "$want"; then return; fi

  if ! "$venv_python" -m pip --version >/dev/null 2>&1; then
    python="$(find_python)"
    make_venv "$python"
  fi
  say "installing Python packages (${locks[*]})"
  for lock in "${locks[@]}"; do options+=(-r "$lock"); done
  "$venv_python" -m pip install -qq --disable-pip-version-check --no-input --no-deps --require-hashes "${options[@]}" ||
    fail "pip could not install ${locks[*]}; the message above says why"
  "$venv_python" -m pip install -qq --no-deps --no-build-isolation --no-index --editable . ||
    fail "pip could not install this tree; the message above says why"
  echo "$want" > "$stamp"
}

set_up_node() {
  local stamp=node_modules/.coppice-stamp made want options=()
  made="$(level_of "$stamp")"
  want="$(stamp_of "$made" package.json package-lock.json scripts/vendor.py)"
  if [ -d static/vendor ] && is_stamped "$stamp" "$want"; then return; fi

  command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null ||
    fail "node 20 or newer with npm is needed to install the browser libraries; found: $(node --version 2>/dev/null || echo none)" \
      "install nodejs and npm from your system or from the Node.js project"
  [ "$made" = run ] && options=(--omit=dev)
  say "installing browser libraries (package-lock.json)"
  npm ci --loglevel=error ${options[@]+"${options[@]}"} >/dev/null || fail "npm could not install package-lock.json; the message above says why"
  "$venv_python" scripts/vendor.py >/dev/null
  echo "$want" > "$stamp"
}

# A server that only tests start. Without one they are skipped; Debian's own cluster is not made.
set_up_postgresql() {
  if compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || command -v initdb >/dev/null; then return; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "PostgreSQL is not installed: its tests are skipped (Debian: apt-get install postgresql)"
    return
  fi
  say "installing PostgreSQL"
  mkdir -p /etc/postgresql-common
  [ -e /etc/postgresql-common/createcluster.conf ] ||
    echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends postgresql; } \
    >/dev/null 2>&1 || say "PostgreSQL could not be installed: its tests are skipped"
}

set_up_redis() {
  if command -v redis-server >/dev/null; then return; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "Redis is not installed: its tests are skipped (Debian: apt-get install redis-server)"
    return
  fi
  say "installing Redis"
  # policy-rc.d keeps Debian from starting a server of its own.
  local policy=/usr/sbin/policy-rc.d made=
  [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod +x "$policy" && made=yes; }
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends redis-server; } \
    >/dev/null 2>&1 || say "Redis could not be installed: its tests are skipped"
  [ -z "$made" ] || rm -f "$policy"
}

case "$level" in
  run) set_up_python; set_up_node ;;
  dev) set_up_python; set_up_node; set_up_postgresql; set_up_redis; "$venv_python" scripts/browser.py >/dev/null ;;
  *) fail "expected run or dev, got $level" ;;
esac
