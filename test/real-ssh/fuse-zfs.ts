import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lab, LabHost } from './lab.ts'

/**
 * A real ZFS on a host whose kernel has none: zfs-fuse keeps real pools on real disks, with the `zpool` and `zfs` of its
 * time. They do everything themselves; only two questions that croft asks in the words of OpenZFS (`status -P`, `get -H
 * -p -o`) are put to them in their own, and their answers written as OpenZFS writes them.
 */
const ZPOOL = String.raw`#!/bin/sh
Z=/sbin/zpool
status() { "$Z" status "$1" | sed 's|^\([[:space:]]*\)disk/|\1/dev/disk/|'; }
case "$*" in
  'status -P '*) status "$3" ;;
  'status -L -P '*)
    status "$4" | while IFS= read -r line; do
      d=$(expr "$line" : '[[:space:]]*\(/dev/disk/[^ ]*\)')
      if [ -n "$d" ]; then printf '%s\n' "$line" | sed "s|$d|$(readlink -f "$d")|"; else printf '%s\n' "$line"; fi
    done ;;
  'get -H -p -o property,value all '*) "$Z" get all "$7" | sed -n '2,$s/^[^ ]* *\([^ ]*\) *\([^ ]*\).*/\1\t\2/p' ;;
  *) exec "$Z" "$@" ;;
esac
`

/** Why there can be no such ZFS here; undefined when there can. In CI nothing may be skipped. */
export function zfsMissing(): string | undefined {
  if (existsSync('/dev/fuse')) return undefined
  if (process.env.CI !== undefined) throw new Error('ZFS must be tested in CI, but the kernel has no FUSE')
  return 'needs a kernel with FUSE (/dev/fuse)'
}

/** ZFS on this host from now on. */
export async function bringZfs(one: Lab, host: LabHost): Promise<void> {
  writeFileSync(join(host.root, 'usr/local/sbin/zpool'), ZPOOL, { mode: 0o755 })
  const shell = one.shells.open(host.target())
  const script = `set -e; [ -e /dev/fuse ] || mknod -m 666 /dev/fuse c 10 229
systemd-run --quiet --unit=lab-zfs zfs-fuse --no-daemon
for i in $(seq 300); do zpool list >/dev/null 2>&1 && exit 0; sleep 0.1; done; zpool list`
  const ran = await shell.run(['sh', '-c', script], { timeoutMs: 60_000 })
  await shell.close()
  assert.equal(ran.code, 0, ran.stderr)
}
