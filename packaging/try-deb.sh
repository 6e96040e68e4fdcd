#!/bin/sh
# Installs the package in /tmp, tries it and removes it. scripts/release.sh --check runs this script
# in a chroot.
files() { find / -xdev \( -path /tmp -o -path /var/cache/man \) -prune -o -print | sort; }
files >/tmp/before
dpkg -i /tmp/*.deb

pz --version
seq 100000 >/tmp/a
pz /tmp/a
unpz -c /tmp/a.pz | cmp - /tmp/a
pzcat /tmp/a.pz | cmp - /tmp/a
[ "$(pzgrep -x 77777 /tmp/a.pz)" = 77777 ]
pzless /tmp/a.pz | cmp - /tmp/a
for page in pz unpz pzcat pzgrep pzless; do
  man -P cat "$page" | grep -q 'unpz is pz -d'
done
bash -c '. /usr/share/bash-completion/bash_completion
  _completion_loader unpz
  complete -p unpz' | grep -q _pz

rm /tmp/a /tmp/a.pz
dpkg --purge pz
files >/tmp/after
diff /tmp/before /tmp/after
