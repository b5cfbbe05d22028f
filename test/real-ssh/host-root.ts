import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** A tree of files that hosts are started from: its name in the cache, and what is installed in it. */
export interface HostTree {
  readonly name: string
  readonly packages: readonly string[]
}

/** Everything a small Debian host has, and what the tests want to look at. */
const PLAIN: HostTree = {
  name: 'host-root-5',
  packages: [
    'systemd',
    'systemd-sysv',
    'dbus',
    'openssh-server',
    'sudo',
    'python3',
    'python3-apt',
    'iproute2',
    'procps',
    'kmod',
    'iputils-ping',
    'udev',
    'tzdata',
    'ifupdown',
    'btrfs-progs',
    'network-manager',
    'netplan.io',
    'prometheus-node-exporter',
    // A ZFS without a kernel module, with separate zpool and zfs programs.
    'zfs-fuse',
  ],
}
const BUILD_MS = 900_000

/** Where the tree of a host is kept between runs; hosts of a test get a layer of their own above it. */
export function hostRootPath({ name }: HostTree = PLAIN): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft', name)
}

/** Builds the tree once, from the system's own package sources. Undefined: it is there; else why it is not. */
export function ensureHostRoot(tree: HostTree = PLAIN): string | undefined {
  const path = hostRootPath(tree)
  if (existsSync(join(path, 'usr/sbin/sshd'))) return undefined
  if (process.getuid?.() !== 0) return 'needs root, to build the tree of a host and to make network namespaces'
  const partial = `${path}.${process.pid}`
  mkdirSync(join(path, '..'), { recursive: true })
  const options = [
    '--aptopt=Acquire::Languages "none"',
    '--dpkgopt=path-exclude=/usr/share/man/*',
    '--dpkgopt=path-exclude=/usr/share/doc/*',
  ]
  const built = spawnSync(
    'mmdebstrap',
    [
      '--quiet',
      '--variant=apt',
      '--mode=root',
      `--include=${tree.packages.join(',')}`,
      ...options,
      'bookworm',
      partial,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8', timeout: BUILD_MS },
  )
  if (built.status === 0) {
    try {
      renameSync(partial, path)
      return undefined
    } catch {
      // Another run was first.
    }
  }
  rmSync(partial, { recursive: true, force: true })
  if (existsSync(join(path, 'usr/sbin/sshd'))) return undefined
  const why = built.error?.message ?? (built.stderr ?? '').trim().split('\n').at(-1) ?? ''
  return `needs the tree of a Debian host, which mmdebstrap could not make (${why})`
}
