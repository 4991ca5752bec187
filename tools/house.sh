# SPDX-License-Identifier: Apache-2.0
# Sourced by ./lowtide and ./test, which have set $root: what must be installed, and how it is built.
# POSIX sh. Everything it says goes to stderr; stdin belongs to the program that is run.

# Without these nothing builds; without those there are no pictures.
need_to_build="g++ cmake ninja-build pkg-config libsqlite3-dev libzstd-dev libfmt-dev libcli11-dev
  nlohmann-json3-dev"
need_to_draw="librsvg2-bin fonts-dejavu-core graphviz"
# gcc is there with g++; python3-dev is what the tests of the walker are compared with.
need_to_test="libgtest-dev libbenchmark-dev clang-14 clang-format-14 python3 python3-venv"

say() { printf 'lowtide: %s\n' "$*" >&2; }

# Nothing the user can mend by trying again: one sentence, status 3.
give_up() {
  say "$*"
  exit 3
}

# The program a package is wanted for, where it is wanted for a program: that may also have come
# from elsewhere (a newer cmake, another compiler).
program_of() {
  case $1 in
    g++) echo c++ ;;
    cmake) echo cmake ;;
    ninja-build) echo ninja ;;
    pkg-config) echo pkg-config ;;
    librsvg2-bin) echo rsvg-convert ;;
    graphviz) echo dot ;;
  esac
}

# Prints those of its arguments that are not there.
missing_of() {
  for package; do
    tool=$(program_of "$package")
    [ -n "$tool" ] && command -v "$tool" >/dev/null 2>&1 && continue
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# apt-get, as root, away from stdin; what it says is kept for the sentence that fails.
as_root_apt() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@"
  fi </dev/null >"$log" 2>&1 9>&-
}

may_become_root() {
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo >/dev/null 2>&1 || return 1
  # Without a terminal nobody can type a password.
  sudo -n true 2>/dev/null || { [ -t 2 ] && sudo -v; }
}

# install REQUIRED OPTIONAL: lists of packages.
install() {
  required=$(missing_of $1)
  optional=$(missing_of $2)
  [ -n "$required$optional" ] || return 0
  if ! command -v apt-get >/dev/null 2>&1; then
    [ -z "$required" ] && return 0
    give_up "this system has no apt-get; install what Debian calls ${required% } and run it again"
  fi
  if ! may_become_root; then
    if [ -z "$required" ]; then
      say "pictures need ${optional% }, which only root can install; everything else works"
      return 0
    fi
    give_up "the first run installs packages and needs root or sudo once: apt-get install --no-install-recommends $required${optional% }"
  fi
  say "installing $required${optional% }"
  # A fresh container has no package lists, an old one has lists of versions that are gone.
  as_root_apt install --no-install-recommends $required $optional && return 0
  as_root_apt update
  as_root_apt install --no-install-recommends $required $optional && return 0
  # The pictures must not cost the program.
  if [ -n "$required" ] && [ -n "$optional" ]; then
    as_root_apt install --no-install-recommends $required && return 0
  elif [ -z "$required" ]; then
    say "could not install ${optional% }: there will be no pictures"
    return 0
  fi
  case $(cat "$log") in
    *[Tt]emporary\ failure* | *[Cc]ould\ not\ connect* | *[Cc]ould\ not\ resolve* | *[Uu]nable\ to\ connect* | *[Uu]nable\ to\ locate* | *[Nn]o\ installation\ candidate*)
      give_up "cannot install ${required% }: no package source can be reached; install them where there is a network, then run it again" ;;
  esac
  give_up "cannot install ${required% }: $(grep -E '^(E|dpkg):' "$log" | head -n 1)"
}

# As many compilers as there are cores, and memory: one takes up to 700 MiB.
compilers() {
  cores=$(nproc 2>/dev/null || echo 1)
  memory=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null)
  for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    limit=$(cat "$file" 2>/dev/null) || continue
    case $limit in
      '' | *[!0-9]* | ??????????????*) ;;
      *) [ $((limit / 1048576)) -lt "${memory:-0}" ] && memory=$((limit / 1048576)) ;;
    esac
  done
  most=$((${memory:-700} / 700))
  [ "$most" -lt "$cores" ] && cores=$most
  [ "$cores" -ge 1 ] && echo "$cores" || echo 1
}

# A build folder that belongs to another place (the checkout was moved or copied) is made anew.
forget_moved_build() {
  cache=$1/CMakeCache.txt
  [ -e "$cache" ] || return 0
  here=$(cd "$root" && pwd -P)
  grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$here" "$cache" || rm -rf "${1:?}"
}

# Runs a command whose output matters only when it fails, or while somebody watches.
quietly() {
  if [ -t 2 ]; then
    "$@" </dev/null >&2 9>&- || give_up "the build failed, see above; a clean one starts with: rm -r $build"
  else
    "$@" </dev/null >"$log" 2>&1 9>&- || {
      grep -E 'rror|FAILED' "$log" | head -n 20 >&2
      give_up "the build failed; all it said is in $log"
    }
  fi
}

build_program() {
  mkdir -p "$build" 2>/dev/null && [ -w "$build" ] && [ -w "$root/build" ] || {
    # Somebody else's checkout that is built: run what is there.
    [ -x "$program" ] && [ -e "$build/built" ] && return 0
    give_up "cannot build into $build: no write permission; build it once as the owner of that folder"
  }
  # One builder at a time, the others wait and find it done.
  lock=$root/build/lock
  if command -v flock >/dev/null 2>&1 && exec 9>"$lock"; then
    flock -n 9 || {
      say "another lowtide is being built here, waiting for it"
      flock 9
    }
    fresh && { exec 9>&-; return 0; }
  fi
  if ! [ -e "$build/built" ]; then
    say "first run: this installs what is missing and builds lowtide once, some minutes"
  fi
  log=$build/../install.log
  install "$need_to_build" "$need_to_draw"

  forget_moved_build "$build"
  mkdir -p "$build"
  log=$build/build.log
  started=$(date +%s)
  : >"$build/building"
  if ! [ -e "$build/build.ninja" ]; then
    (cd "$root" && cmake --preset release -DLOWTIDE_BUILD_TESTS=OFF -DLOWTIDE_BUILD_BENCH=OFF) \
      </dev/null >"$log" 2>&1 9>&- || {
      grep -A 3 -E 'Error' "$log" | head -n 20 >&2
      give_up "cannot configure the build; all it said is in $log"
    }
  fi
  [ -t 2 ] || say "building"
  quietly cmake --build "$build" --parallel "$(compilers)"
  # The time before the build: what was edited meanwhile is newer.
  mv "$build/building" "$build/built"
  say "built in $(($(date +%s) - started)) s"
  command -v flock >/dev/null 2>&1 && exec 9>&-
  return 0
}
