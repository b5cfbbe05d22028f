import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A Debian package and one of its commands, by which it is seen to be there. */
export interface Wanted {
  readonly name: string
  readonly command: string
}

/** Real programs that tests hold croft's work against. Without them those tests say so and are skipped. */
export const TEST_PACKAGES: readonly Wanted[] = [
  { name: 'cloud-init', command: 'cloud-init' },
  { name: 'curl', command: 'curl' },
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
  { name: 'zsh', command: 'zsh' },
  { name: 'fish', command: 'fish' },
  { name: 'chromium', command: 'chromium' },
  { name: 'kubernetes-client', command: 'kubectl' },
  { name: 'nut-server', command: 'upsd' },
  { name: 'gcc', command: 'gcc' },
]

const INSTALL_TIMEOUT_MS = 300_000
/** Without a network it should be found out soon; another apt at work is waited for. */
const PATIENCE = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=20', '-o', 'DPkg::Lock::Timeout=60']
/** Where administrators' programs are, whoever looks. */
const ALSO = ['/usr/local/sbin', '/usr/sbin', '/sbin']

export interface System {
  hasCommand(command: string): boolean
  readonly isRoot: boolean
  run(command: string, args: readonly string[]): { readonly ok: boolean; readonly output: string }
  print(line: string): void
}

/**
 * Installs what is missing where that is allowed (root, with apt), and otherwise says in one line what is missing and
 * how to get it. Never fails: what cannot be had is for the tests to say. Answers what is still missing.
 */
export function ensurePackages(wanted: readonly Wanted[], system: System = thisSystem()): readonly string[] {
  const missing = () => wanted.filter(({ command }) => !system.hasCommand(command)).map(({ name }) => name)
  const before = missing()
  if (before.length === 0) return []
  const byHand = `apt-get install -y --no-install-recommends ${before.join(' ')}`
  if (!system.isRoot || !system.hasCommand('apt-get')) {
    system.print(`some tests need programs that are not installed; to have them, run: sudo ${byHand}`)
    return before
  }
  system.print(`installing for the tests: ${before.join(' ')}`)
  system.run('apt-get', [...PATIENCE, 'update', '-qq'])
  const installed = system.run('apt-get', [...PATIENCE, 'install', '-y', '-qq', '--no-install-recommends', ...before])
  // We want its program, not its service: a machine that runs our tests must not be set up anew when it boots next.
  if (before.includes('cloud-init') && system.hasCommand('cloud-init'))
    system.run('touch', ['/etc/cloud/cloud-init.disabled'])
  const after = missing()
  if (after.length > 0) {
    const why = installed.output.trim().split('\n').at(-1) ?? ''
    system.print(`could not install ${after.join(' ')}${why === '' ? '' : ` (${why})`}; by hand: ${byHand}`)
  }
  return after
}

function thisSystem(): System {
  return {
    hasCommand,
    isRoot: process.getuid?.() === 0,
    run(command, args) {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
      const ran = spawnSync(command, args, { env, encoding: 'utf8', timeout: INSTALL_TIMEOUT_MS, stdio: 'pipe' })
      return { ok: ran.status === 0, output: `${ran.stdout ?? ''}${ran.stderr ?? ''}` }
    },
    print: (line) => process.stdout.write(`${line}\n`),
  }
}

/** The whole path of a program, or undefined. */
export function findCommand(command: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...ALSO]
  return folders.map((folder) => join(folder, command)).find(isExecutable)
}

function hasCommand(command: string): boolean {
  return findCommand(command) !== undefined
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
