#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of the assignment.
set -euo pipefail

source=${KATA_AUTOGRADER_ROOT:-/autograder}/source
home=${KATA_HOME:-/opt/katas}

apt-get update
[% if course.package.git %]
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv git ca-certificates
[% else %]
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv ca-certificates
[% endif %]

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
  echo "This needs Python 3.10 or later: choose Ubuntu 22.04 or later as the base image." >&2
  exit 1
fi

python3 -m venv "$home"
cd "$source" # where the paths in requirements.txt begin
"$home/bin/pip" install --no-cache-dir --disable-pip-version-check -r requirements.txt

# Submissions are judged by a user who owns nothing: not the seed, not the results.
id kata >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin kata
[% if course.private %]
cp -R "$source/set" "$home/set"
chown -R root:kata "$home/set"
chmod -R u=rwX,g=rX,o= "$home/set"
[% endif %]

# For the log of the build: whether that user can judge in this container, and which locks hold.
setpriv --reuid "$(id -u kata)" --regid "$(id -g kata)" --clear-groups "$home/bin/kata" doctor || true
