import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCommand } from '../../scripts/packages.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { Secret, type SshTarget } from '../../src/model/secret.ts'
import { createShells, type Shells } from '../../src/ssh/open.ts'
import { childrenOf } from '../process-children.ts'
import { ensureHostRoot, hostRootPath } from './host-root.ts'

/** A small Debian with systemd and sshd in a separate network namespace, on a tree that only it sees. */
export interface LabHost {
  readonly name: string
  readonly address: string
  readonly hostKey: string
  /** Its files, seen from outside. */
  readonly root: string
  target(more?: Partial<SshTarget>): SshTarget
}

export interface Lab {
  readonly hosts: readonly LabHost[]
  readonly directory: string
  /** A private key that every host lets in, as root and as the user k3s. */
  readonly key: string
  /** Environment in which `ssh` starts inside the lab's namespace, and nowhere else. */
  readonly env: Readonly<Record<string, string>>
  readonly shells: Shells
  /** Runs a program of this computer inside the lab's namespace. */
  inside(
    argv: readonly string[],
    options?: { readonly input?: string; readonly timeoutMs?: number },
  ): { readonly code: number; readonly stdout: string; readonly stderr: string }
  close(): Promise<void>
}

/** Settings of each host's own network that a configuration may ask for. */
const SETTINGS = [
  'net.ipv4.ip_forward=1',
  'net.ipv4.conf.all.rp_filter=2',
  'net.ipv4.tcp_keepalive_time=600',
  'net.ipv6.conf.all.forwarding=1',
]

const NEEDED = ['ip', 'systemd-nspawn', 'mmdebstrap', 'ssh', 'ssh-keygen', 'unshare'] as const

/** Why the lab cannot be here; undefined when it can. In CI nothing may be skipped. */
export function labMissing(): string | undefined {
  const why = whyNot()
  if (why !== undefined && process.env.CI !== undefined)
    throw new Error(`the hosts over SSH must be tested in CI, but it ${why}`)
  return why
}

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux'
  if (process.getuid?.() !== 0) return 'needs root, to make network namespaces'
  const missing = NEEDED.filter((command) => findCommand(command) === undefined)
  if (missing.length > 0)
    return `needs ${missing.join(', ')}; to have them, run: apt-get install -y --no-install-recommends iproute2 systemd-container mmdebstrap openssh-client util-linux`
  const tried = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', 'true'], { encoding: 'utf8' })
  if (tried.status !== 0) return `needs a kernel that lets us make namespaces (${tried.stderr.trim()})`
  return ensureHostRoot()
}

/** The hosts, up and reachable. What is made here is taken away by `close`. */
export async function openLab(names: readonly string[]): Promise<Lab> {
  const directory = mkdtempSync('/var/tmp/croft-lab-')
  const lab = `croft-lab-${process.pid}`
  const undo: (() => void)[] = [() => rmSync(directory, { recursive: true, force: true })]
  const children: ChildProcess[] = []
  let over = false
  const clear = () => {
    if (over) return
    over = true
    for (const child of children) killHard(child)
    for (const one of undo.reverse()) one()
  }
  // Remove namespaces and mounts when this process is ended.
  process.once('exit', clear)
  process.once('SIGTERM', () => process.exit(143))
  const close = async () => {
    await shells.close()
    await Promise.all(children.map(stop))
    clear()
  }
  const env = { ...wrapper(directory, lab), HOME: directory }
  const shells = createShells({
    env,
    clock: systemClock,
    random: seededRandom(7),
    resolveSecret: async (reference) => new Secret('env' in reference ? (process.env[reference.env] ?? '') : ''),
  })
  try {
    const key = join(directory, 'key')
    must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'lab', '-f', key)
    must('ip', 'netns', 'add', lab)
    undo.push(() => void spawnSync('ip', ['netns', 'delete', lab]))
    must('ip', '-n', lab, 'link', 'set', 'lo', 'up')
    must('ip', '-n', lab, 'link', 'add', 'br0', 'type', 'bridge')
    must('ip', '-n', lab, 'address', 'add', '10.77.0.1/24', 'dev', 'br0')
    must('ip', '-n', lab, 'link', 'set', 'br0', 'up')
    const hosts = names.map((name, index): LabHost => {
      const address = `10.77.0.${index + 2}`
      const netns = `${lab}-${index}`
      must('ip', 'netns', 'add', netns)
      undo.push(() => void spawnSync('ip', ['netns', 'delete', netns]))
      must('ip', '-n', lab, 'link', 'add', `h${index}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', netns)
      must('ip', '-n', lab, 'link', 'set', `h${index}`, 'master', 'br0', 'up')
      must('ip', '-n', netns, 'link', 'set', 'lo', 'up')
      must('ip', '-n', netns, 'address', 'add', `${address}/24`, 'dev', 'eth0')
      must('ip', '-n', netns, 'link', 'set', 'eth0', 'up')
      // Read-only inside, since the kernel shares them with this computer.
      for (const setting of SETTINGS) must('ip', 'netns', 'exec', netns, 'sysctl', '-q', '-w', setting)
      const root = mountRoot(directory, name, undo)
      const hostKey = prepare(root, name, readFileSync(`${key}.pub`, 'utf8'))
      children.push(boot(root, name, netns))
      return {
        name,
        address,
        hostKey,
        root,
        target: (more = {}) => ({
          name,
          address,
          port: 22,
          user: 'root',
          hostKeys: [hostKey],
          key: { file: key },
          sudo: 'none',
          ...more,
        }),
      }
    })
    await Promise.all(hosts.map((host) => untilUp(host, shells)))
    return {
      hosts,
      directory,
      key,
      env,
      shells,
      inside(argv, { input, timeoutMs = 200_000 } = {}) {
        const ran = spawnSync('ip', ['netns', 'exec', lab, ...argv], {
          encoding: 'utf8',
          timeout: timeoutMs,
          input: input ?? '',
          env: { ...process.env, HOME: directory },
        })
        return { code: ran.status ?? -1, stdout: ran.stdout, stderr: ran.stderr }
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A folder for PATH in which ssh is the real one, started inside the namespace. */
function wrapper(directory: string, lab: string): { PATH: string } {
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  for (const name of ['ssh', 'ssh-keyscan']) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ip netns exec ${lab} /usr/bin/${name} "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return { PATH: `${bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin` }
}

function mountRoot(directory: string, name: string, undo: (() => void)[]): string {
  const at = (part: string) => join(directory, `${name}-${part}`)
  for (const part of ['upper', 'work', 'root']) mkdirSync(at(part))
  must(
    'mount',
    '-t',
    'overlay',
    'overlay',
    '-o',
    `lowerdir=${hostRootPath()},upperdir=${at('upper')},workdir=${at('work')}`,
    at('root'),
  )
  undo.push(() => void spawnSync('umount', ['-l', at('root')]))
  return at('root')
}

/** Its own keys and name, and two users that the lab's key lets in. */
function prepare(root: string, name: string, publicKey: string): string {
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text, { mode })
  }
  rmSync(join(root, 'etc/ssh'), { recursive: true, force: true })
  must('cp', '-a', join(hostRootPath(), 'etc/ssh'), join(root, 'etc/ssh'))
  for (const type of ['rsa', 'ecdsa', 'ed25519'])
    for (const end of ['', '.pub']) rmSync(join(root, `etc/ssh/ssh_host_${type}_key${end}`), { force: true })
  must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(root, 'etc/ssh/ssh_host_ed25519_key'))
  put('etc/hostname', `${name}\n`)
  rmSync(join(root, 'etc/apt/sources.list'), { force: true })
  put('etc/machine-id', '')
  put('root/.ssh/authorized_keys', publicKey, 0o600)
  must('chroot', root, 'useradd', '--create-home', '--shell', '/bin/bash', 'k3s')
  put('home/k3s/.ssh/authorized_keys', publicKey, 0o600)
  must('chroot', root, 'chown', '-R', 'k3s:', '/home/k3s/.ssh')
  must('chroot', root, 'chpasswd')
  for (const unit of [
    'apt-daily.timer',
    'apt-daily-upgrade.timer',
    'systemd-timesyncd.service',
    'e2scrub_all.timer',
    'fstrim.timer',
    // It would look after the network of every host; a test that is about it lets it.
    'NetworkManager.service',
    // The same goes for ZFS.
    'zfs-fuse.service',
  ])
    if (!existsSync(join(root, 'etc/systemd/system', unit)))
      spawnSync('ln', ['-s', '/dev/null', join(root, 'etc/systemd/system', unit)])
  return readFileSync(join(root, 'etc/ssh/ssh_host_ed25519_key.pub'), 'utf8').split(' ').slice(0, 2).join(' ')
}

function boot(root: string, name: string, netns: string): ChildProcess {
  const options = [
    '--quiet',
    '--boot',
    '--register=no',
    '--keep-unit',
    '--console=pipe',
    '--link-journal=no',
    '--resolv-conf=off',
    '--timezone=off',
    // Its network is its own: it may give itself addresses.
    '--capability=CAP_NET_ADMIN',
  ]
  // `ip netns exec` would hide /sys; nspawn enters the namespace by itself.
  return spawn(
    'systemd-nspawn',
    [...options, `--machine=${name}`, `--directory=${root}`, `--network-namespace-path=/run/netns/${netns}`],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  )
}

async function untilUp(host: LabHost, shells: Shells): Promise<void> {
  let last: unknown
  for (let attempt = 0; attempt < 80; attempt++) {
    const shell = shells.open(host.target())
    try {
      const ran = await shell.run(['sh', '-c', 'systemctl is-system-running --wait 2>/dev/null; id -u'], {
        timeoutMs: 40_000,
      })
      if (ran.stdout.trim().endsWith('0')) return
    } catch (error) {
      last = error
    } finally {
      await shell.close()
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error(`${host.name} does not come up: ${String(last)}`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const late = setTimeout(() => killHard(child), 4_000)
  await ended
  clearTimeout(late)
}

/** With everything in it: an nspawn that is killed leaves the first process of its host running. */
function killHard({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  for (const one of [pid, ...childrenOf(pid)])
    try {
      process.kill(one, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
}

function must(program: string, ...args: readonly string[]): void {
  const ran = spawnSync(program, args, {
    encoding: 'utf8',
    input: program === 'chroot' && args[1] === 'chpasswd' ? 'k3s:let-me-in\nroot:let-me-in\n' : '',
  })
  if (ran.status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${ran.stderr || ran.error?.message || ran.status}`)
}
