import { spawnSync } from 'node:child_process'
import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A Debian package, and the command or file (a pattern) by which it is seen to be there. */
export type Wanted = { readonly name: string } & ({ readonly command: string } | { readonly file: string })

/** Python with a module that Debian packages separately. */
export const PYTHON: Wanted = { name: 'python3-venv', file: '/usr/lib/python3.*/ensurepip/__init__.py' }

/** What the first set of tests needs (test/sets.ts): unpacked for every newcomer, so it is little. */
export const FIRST_PACKAGES: readonly Wanted[] = [
  { name: 'curl', command: 'curl' },
  { name: 'openssh-client', command: 'ssh' },
  { name: 'iproute2', command: 'ip' },
  { name: 'chromium', command: 'chromium' },
]

/** Real programs that tests hold croft's work against. Without them those tests say so and are skipped. */
export const TEST_PACKAGES: readonly Wanted[] = [
  { name: 'cloud-init', command: 'cloud-init' },
  { name: 'curl', command: 'curl' },
  { name: 'jq', command: 'jq' },
  { name: 'xorriso', command: 'xorriso' },
  { name: 'genisoimage', command: 'isoinfo' },
  { name: 'netplan.io', command: 'netplan' },
  { name: 'systemd', command: 'systemd-analyze' },
  { name: 'libvirt-clients', command: 'virsh' },
  { name: 'openssh-client', command: 'ssh' },
  { name: 'openssh-server', command: 'sshd' },
  { name: 'iproute2', command: 'ip' },
  { name: 'systemd-container', command: 'systemd-nspawn' },
  { name: 'mmdebstrap', command: 'mmdebstrap' },
  { name: 'gnupg', command: 'gpg' },
  { name: 'shellcheck', command: 'shellcheck' },
  { name: 'busybox', command: 'busybox' },
  { name: 'zsh', command: 'zsh' },
  { name: 'fish', command: 'fish' },
  { name: 'chromium', command: 'chromium' },
  { name: 'kubernetes-client', command: 'kubectl' },
  { name: 'nut-server', command: 'upsd' },
  { name: 'gcc', command: 'gcc' },
  PYTHON,
]

/** What `npm run test:real` needs beside them. */
export const REAL_PACKAGES: readonly Wanted[] = [
  { name: 'etcd-server', command: 'etcd' },
  { name: 'openssl', command: 'openssl' },
]

/** Real libvirtd and QEMU with what an image is made of; amd64 alone. */
export const LIBVIRT_PACKAGES: readonly Wanted[] = [
  { name: 'libvirt-daemon', command: 'libvirtd' },
  { name: 'libvirt-clients', command: 'virsh' },
  { name: 'qemu-system-x86', command: 'qemu-system-x86_64' },
  { name: 'qemu-utils', command: 'qemu-img' },
  { name: 'mmdebstrap', command: 'mmdebstrap' },
  { name: 'dosfstools', command: 'mkfs.vfat' },
  { name: 'mtools', command: 'mcopy' },
  { name: 'grub-common', command: 'grub-mkimage' },
  { name: 'fdisk', command: 'sfdisk' },
  { name: 'iproute2', command: 'ip' },
  { name: 'openssh-client', command: 'ssh' },
  { name: 'openssh-server', command: 'sshd' },
  { name: 'grub-pc-bin', file: '/usr/lib/grub/i386-pc/boot.img' },
  { name: 'grub-efi-amd64-bin', file: '/usr/lib/grub/x86_64-efi/kernel.img' },
  {
    name: 'libvirt-daemon-driver-qemu',
    file: '/usr/lib/x86_64-linux-gnu/libvirt/connection-driver/libvirt_driver_qemu.so',
  },
  { name: 'libvirt-daemon-system', file: '/etc/libvirt/qemu.conf' },
  { name: 'ovmf', file: '/usr/share/OVMF/OVMF_CODE.fd' },
]

const APT: Wanted = { name: 'apt', command: 'apt-get' }
/** All of them at once, on a slow mirror. */
const INSTALL_TIMEOUT_MS = 900_000
/** Without a network it should be found out soon; another apt at work is waited for. */
const PATIENCE = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=20', '-o', 'DPkg::Lock::Timeout=60']
/** Folders of administrators' programs, which the PATH of a user may lack. */
const ALSO = ['/usr/local/sbin', '/usr/sbin', '/sbin']

export interface System {
  has(wanted: Wanted): boolean
  readonly isRoot: boolean
  /** A person has said yes, or what is installed is seen by the tests alone. */
  readonly mayInstall: boolean
  run(command: string, args: readonly string[]): { readonly ok: boolean; readonly output: string }
  print(line: string): void
}

/**
 * Installs what is missing where that is allowed, and otherwise says in one line what is missing and how to get it. Never
 * fails: what cannot be had is for the tests to say. Answers what is still missing.
 */
export function ensurePackages(wanted: readonly Wanted[], system: System = thisSystem()): readonly string[] {
  const missing = () => wanted.filter((one) => !system.has(one)).map(({ name }) => name)
  const before = missing()
  if (before.length === 0) return []
  const byHand = `apt-get install -y --no-install-recommends ${before.join(' ')}`
  if (!system.isRoot || !system.has(APT) || !system.mayInstall) {
    system.print(`some tests need programs that are not installed and are skipped; to have them, run: sudo ${byHand}`)
    return before
  }
  system.print(`installing for the tests: ${before.join(' ')}`)
  system.run('apt-get', [...PATIENCE, 'update', '-qq'])
  const installed = system.run('apt-get', [...PATIENCE, 'install', '-y', '-qq', '--no-install-recommends', ...before])
  // We want its program, not its service: a test run must not change what the machine starts at its next boot.
  const after = missing()
  if (before.includes('cloud-init') && !after.includes('cloud-init'))
    system.run('touch', ['/etc/cloud/cloud-init.disabled'])
  if (after.length > 0) {
    const why = installed.output.trim().split('\n').at(-1) ?? ''
    system.print(`could not install ${after.join(' ')}${why === '' ? '' : ` (${why})`}; by hand: ${byHand}`)
  }
  return after
}

function thisSystem(): System {
  return {
    has: isThere,
    isRoot: process.getuid?.() === 0,
    mayInstall: mayInstall(),
    run(command, args) {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
      const ran = spawnSync(command, args, { env, encoding: 'utf8', timeout: INSTALL_TIMEOUT_MS, stdio: 'pipe' })
      return { ok: ran.status === 0, output: `${ran.stdout ?? ''}${ran.stderr ?? ''}` }
    },
    print: (line) => process.stdout.write(`${line}\n`),
  }
}

/** Set for processes that run in layers of their own (test-system.ts). */
export const INSIDE = 'CROFT_TEST_SYSTEM'

/** Whether packages may be installed where this process runs: into its own layers, or because a person said so. */
export function mayInstall(env: NodeJS.ProcessEnv = process.env): boolean {
  return env[INSIDE] !== undefined || env.CROFT_TEST_INSTALL === '1'
}

/** The whole path of a program, or undefined. */
export function findCommand(command: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...ALSO]
  return folders.map((folder) => join(folder, command)).find(isExecutable)
}

export function isThere(wanted: Wanted): boolean {
  return 'file' in wanted ? globSync(wanted.file).length > 0 : findCommand(wanted.command) !== undefined
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
