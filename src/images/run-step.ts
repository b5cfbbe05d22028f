import type { BuildStep } from './build-spec.ts'

const RUN_MS = 1_800_000

/**
 * Runs a user's script inside the root, in private namespaces, so that a failure leaves no mount and no process behind.
 * Discards /tmp, /run and /dev; names are resolved as on the building computer.
 */
const INSIDE = `set -eu
root=$1 script=$2
mount -t proc proc "$root/proc"
for place in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$place"; done
chmod 1777 "$root/tmp"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/full" c 1 7
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
mkdir -p "$root/run/systemd/resolve"
cp /etc/resolv.conf "$root/run/systemd/resolve/stub-resolv.conf"
if [ -f "$root/etc/resolv.conf" ] && [ ! -L "$root/etc/resolv.conf" ]; then mount --bind /etc/resolv.conf "$root/etc/resolv.conf"; fi
exec chroot "$root" sh -euc "$script" croft </dev/null`

/** Returns one shell step of an image as a program. `environment` is the script's whole environment. */
export function runStep(script: string, root: string, environment: readonly string[]): BuildStep {
  const [first = ''] = script.split('\n').filter((line) => /^\s*[^\s#]/.test(line))
  return {
    summary: `run ${first.trim().slice(0, 60)}`,
    argv: [
      ...environment,
      'DEBIAN_FRONTEND=noninteractive',
      'unshare',
      '--mount',
      '--propagation',
      'private',
      '--pid',
      '--fork',
      '--kill-child',
      'sh',
      '-c',
      INSIDE,
      'croft',
      root,
      script,
    ],
    timeoutMs: RUN_MS,
  }
}
