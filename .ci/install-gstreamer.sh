#!/usr/bin/env bash
# Installs GStreamer by package name: its tools, the elements of pipelines, and what the stand-in elements are built with.
#
# On Debian 12 that is GStreamer 1.22.
set -euo pipefail

packages=(
    gstreamer1.0-tools
    # queue, tee, fakesink and the like come with the library itself; videoconvert with the base plugins
    gstreamer1.0-plugins-base
    # fpsdisplaysink
    gstreamer1.0-plugins-bad
    libgstreamer1.0-dev
    pkg-config
)

say() { printf 'install-gstreamer: %s\n' "$*" >&2; }

if command -v gst-launch-1.0 >/dev/null && pkg-config --exists gstreamer-base-1.0 2>/dev/null &&
    gst-inspect-1.0 --exists fpsdisplaysink; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    say "this is no Debian; install ${packages[*]} by other means"
    exit 1
fi
say "installing ${packages[*]}"
apt-get -qq update >&2
apt-get -qq install --yes --no-install-recommends "${packages[@]}" >&2
gst-launch-1.0 --version >&2
