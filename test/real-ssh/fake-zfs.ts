/**
 * `zpool` and `zfs` for hosts whose kernel has no ZFS: they keep what they were told in files and speak as those of
 * OpenZFS 2.1 do (their manual pages: forms of `status -P`, `get -H -p`, `import`, and the words of their refusals).
 * Whether a disk really becomes part of a pool is not shown by this.
 */
export const FAKE_ZFS = String.raw`#!/bin/sh
S=/var/lib/fake-zfs; mkdir -p "$S/pools" "$S/exported" "$S/sets"; me=$(basename "$0")
echo "$me $*" >>"$S/calls"
verb=$1; shift
last() { for x; do :; done; printf %s "$x"; }
have() { [ -d "$S/pools/$1" ] || { echo "cannot open '$1': no such pool" >&2; exit 1; }; }
show() { echo "  pool: $1"; echo " state: ONLINE"; echo "config:"; echo
  printf '\tNAME\tSTATE     READ WRITE CKSUM\n\t%s\tONLINE       0     0     0\n' "$1"
  n=$(wc -l <"$2/devices"); [ "$n" -gt 1 ] && printf '\t  mirror-0\tONLINE       0     0     0\n'
  while read -r d; do printf '\t    %s-part1\tONLINE       0     0     0\n' "$d"; done <"$2/devices"; echo; echo "errors: No known data errors"; }
props() { for f in "$1"/p-*; do [ -e "$f" ] && printf '%s\t%s\n' "$(basename "$f" | cut -c3-)" "$(cat "$f")"; done; :; }
case "$me $verb" in
  "zpool status") p=$(last "$@"); have "$p"; show "$p" "$S/pools/$p" ;;
  "zpool list") p=$(last "$@"); have "$p"; printf '%s\t300M\n' "$p" ;;
  "zpool get") p=$(last "$@"); have "$p"; props "$S/pools/$p" ;;
  "zpool set") have "$2"; printf %s "$(printf %s "$1" | cut -d= -f2-)" >"$S/pools/$2/p-$(printf %s "$1" | cut -d= -f1)" ;;
  "zpool create") p=; o=
    while [ $# -gt 0 ]; do case $1 in
      -f) ;; -o) shift; o="$o $1" ;;
      mirror|raidz*) ;;
      /dev/*) [ -b "$1" ] || { echo "cannot open '$1': no such device" >&2; exit 1; }; echo "$1" >>"$S/pools/$p/devices" ;;
      *) p=$1; [ -d "$S/pools/$p" ] && { echo "cannot create '$p': pool already exists" >&2; exit 1; }; mkdir "$S/pools/$p" ;;
    esac; shift; done
    for one in $o; do printf %s "$(printf %s "$one" | cut -d= -f2-)" >"$S/pools/$p/p-$(printf %s "$one" | cut -d= -f1)"; done ;;
  "zpool attach") have "$1"; grep -qxF "$2" "$S/pools/$1/devices" || { echo "cannot attach $3 to $2: no such device in pool" >&2; exit 1; }
    echo "$3" >>"$S/pools/$1/devices" ;;
  "zpool export") have "$1"; mv "$S/pools/$1" "$S/exported/$1" ;;
  "zpool import") if [ "$1" = -d ]; then shift 2; fi
    if [ $# -eq 0 ]; then for d in "$S"/exported/*; do [ -d "$d" ] || continue
      printf '   pool: %s\n     id: 6223921996155991199\n  state: ONLINE\n action: The pool can be imported using its name or numeric identifier.\n' "$(basename "$d")"; done
      [ -n "$(ls "$S/exported")" ] || { echo "no pools available to import" >&2; }; exit 0; fi
    [ -d "$S/exported/$1" ] || { echo "cannot import '$1': no such pool available" >&2; exit 1; }; mv "$S/exported/$1" "$S/pools/$1" ;;
  "zfs get") p=$(last "$@"); n=$(printf %s "$p" | tr / +); [ -d "$S/sets/$n" ] || { echo "cannot open '$p': dataset does not exist" >&2; exit 1; }; props "$S/sets/$n" ;;
  "zfs create") p=$(last "$@"); have "$(printf %s "$p" | cut -d/ -f1)"; n=$(printf %s "$p" | tr / +); mkdir -p "$S/sets/$n"
    while [ $# -gt 1 ]; do if [ "$1" = -o ]; then shift; printf %s "$(printf %s "$1" | cut -d= -f2-)" >"$S/sets/$n/p-$(printf %s "$1" | cut -d= -f1)"; fi; shift; done ;;
  "zfs set") n=$(printf %s "$2" | tr / +); [ -d "$S/sets/$n" ] || exit 1; printf %s "$(printf %s "$1" | cut -d= -f2-)" >"$S/sets/$n/p-$(printf %s "$1" | cut -d= -f1)" ;;
  *) echo "unrecognized command '$verb'" >&2; exit 2 ;;
esac
`
