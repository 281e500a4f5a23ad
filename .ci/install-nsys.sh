#!/usr/bin/env bash
# Installs the command line of Nsight Systems 2023.4.4 and prints the folder that holds `nsys`.
#
#   .ci/install-nsys.sh [FOLDER]      FOLDER is /opt/nsys where none is given
#
# Debian packages it in the component non-free of trixie. Only its files are unpacked: the packages depend on a graphical
# toolkit that the command line does not need. The lists of that component are read into a folder of their own, so that
# the system's own package lists stay as they are.
set -euo pipefail

folder=${1:-/opt/nsys}
program=$folder/nsys

say() { printf 'install-nsys: %s\n' "$*" >&2; }

if [ -x "$program" ]; then
    printf '%s\n' "$folder"
    exit 0
fi
sources=/etc/apt/sources.list.d/debian.sources
if [ ! -f "$sources" ]; then
    say "this is no Debian with $sources; install nsight-systems 2023.4.4 by other means"
    exit 1
fi

apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/archives/partial"

# The mirror of the system, with another suite and component; the security archive has no such component.
awk -v RS= '!/security/ { print $0 "\n" }' "$sources" |
    sed -e 's/^Suites:.*/Suites: trixie/' -e 's/^Components:.*/Components: contrib non-free/' >"$apt/debian.sources"
options=(
    -qq
    -o "Dir::Etc::sourcelist=$apt/debian.sources"
    -o "Dir::Etc::sourceparts=/dev/null"
    -o "Dir::State::Lists=$apt/lists"
    -o "Dir::Cache=$apt"
    -o "APT::Sandbox::User=root"
)
say "reading the package lists"
apt-get "${options[@]}" update >&2
say "downloading nsight-systems"
(cd "$apt" && apt-get "${options[@]}" download nsight-systems nsight-systems-target >&2)

mkdir -p "$folder"
for package in "$apt"/*.deb; do
    dpkg-deb --extract "$package" "$folder"
done

# Three things that the packages leave to their own installation scripts and dependencies.
libraries=$folder/usr/lib/x86_64-linux-gnu/nsight-systems
host=$folder/usr/lib/nsight-systems/host-linux-x64
target=$libraries/target-linux-x64
#  1. The importer loads libssh by its unversioned name.
libssh=/usr/lib/x86_64-linux-gnu/libssh.so.4
if [ ! -e "$libssh" ]; then
    say "installing libssh-4"
    apt-get -qq update >&2
    apt-get -qq install --yes libssh-4 >&2
fi
ln -sfn "$libssh" "$host/libssh.so"
#  2. nsys looks for the importer in a folder beside its own.
ln -sfn ../../nsight-systems/host-linux-x64 "$libraries/host-linux-x64"
#  3. The reports import modules that are packaged with the target.
for module in "$target"/python/lib/*.py; do
    [ -e "$host/python/lib/${module##*/}" ] || cp "$module" "$host/python/lib/"
done

ln -sfn "$target/nsys" "$program"
"$program" --version >&2
printf '%s\n' "$folder"
