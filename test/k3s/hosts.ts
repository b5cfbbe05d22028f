import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findCommand } from '../../scripts/packages.ts'
import { childrenOf } from '../process-children.ts'
import { ensureHostRoot, hostRootPath } from '../real-ssh/host-root.ts'
import { cgroupsOf, removeCgroups } from './cgroups.ts'
import { K3S_HOST } from './host-tree.ts'
import { makeImage } from './image.ts'

/** A computer with systemd and sshd, on separate files, in an isolated network. */
export interface K3sHost {
  readonly name: string
  readonly address: string
  readonly mac: string
  readonly hostKey: string
}

export interface K3sLab {
  readonly directory: string
  readonly key: string
  /** Where croft and the mirror are, seen from the hosts. */
  readonly gateway: string
  readonly hosts: ReadonlyMap<string, K3sHost>
  /** The words that run a program of this computer inside the lab's network. */
  inside(argv: readonly string[]): readonly string[]
  /** Runs a script as root on a host. */
  on(name: string, script: string, input?: string): Promise<{ readonly code: number; readonly out: string }>
  boot(...names: readonly string[]): Promise<void>
  isOn(name: string): boolean
  /** As if its plug were pulled. */
  cutPower(name: string): Promise<void>
  /** Powers it off; the next boot is from an empty disk. */
  emptyDisk(name: string): Promise<void>
  close(): Promise<void>
}

const IMAGES = 'var/lib/rancher/k3s/agent/images'
/** A host that is a container may not be allowed to rank processes for the kernel, and without that no pod would start. */
const RUNTIME = 'var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/lab.toml'
const COMMAND_MS = 600_000
const NETWORK = '10.78.0'
const NEEDED = ['ip', 'systemd-nspawn', 'mmdebstrap', 'ssh', 'ssh-keygen', 'nsenter', 'unshare'] as const
/** What croft's gates and K3s want to see of a host's own network; inside it can only be read. */
const SETTINGS = [
  'net.ipv4.ip_forward=1',
  'net.ipv4.conf.all.forwarding=1',
  'net.ipv6.conf.all.forwarding=1',
  'net.bridge.bridge-nf-call-iptables=1',
]

/** Why no lab can be here; undefined when it can. */
export function labMissing(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux'
  if (process.getuid?.() !== 0) return 'needs root, to start hosts in namespaces'
  const missing = NEEDED.filter((command) => findCommand(command) === undefined)
  if (missing.length > 0)
    return `needs ${missing.join(', ')}; to have them, run: apt-get install -y --no-install-recommends iproute2 systemd-container mmdebstrap openssh-client util-linux`
  return ensureHostRoot(K3S_HOST)
}

export function openLab(names: readonly string[]): K3sLab {
  const directory = mkdtempSync('/var/tmp/croft-k3s-')
  const lab = `croft-k3s-${process.pid}`
  const undo: (() => void)[] = [
    () => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }),
  ]
  const running = new Map<string, ChildProcess>()
  const clear = () => {
    for (const child of running.values()) pullPlug(child)
    running.clear()
    for (const one of undo.splice(0).reverse()) one()
  }
  process.once('exit', clear)
  raise('/proc/sys/fs/inotify/max_user_instances', 1024, undo)
  const key = join(directory, 'key')
  must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'lab', '-f', key)
  const image = makeImage(directory, join(hostRootPath(K3S_HOST), 'usr/bin/busybox'))
  must('ip', 'netns', 'add', lab)
  undo.push(() => void spawnSync('ip', ['netns', 'delete', lab]))
  must('ip', '-n', lab, 'link', 'set', 'lo', 'up')
  must('ip', '-n', lab, 'link', 'add', 'br0', 'type', 'bridge')
  must('ip', '-n', lab, 'address', 'add', `${NETWORK}.1/24`, 'dev', 'br0', 'broadcast', `${NETWORK}.255`)
  must('ip', '-n', lab, 'link', 'set', 'br0', 'up')
  must('ip', '-n', lab, 'route', 'add', 'default', 'dev', 'br0')
  const hosts = new Map<string, K3sHost>()
  for (const [index, name] of names.entries()) hosts.set(name, place(index, name))

  function place(index: number, name: string): K3sHost {
    const address = `${NETWORK}.${index + 11}`
    const mac = `52:54:00:78:00:${index + 11}`
    const keyFile = join(directory, `${name}-key`)
    must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', keyFile)
    for (const part of ['upper', 'work', 'root']) mkdirSync(join(directory, `${name}-${part}`))
    undo.push(() => removeCgroups(`${lab}-${name}`))
    undo.push(() => void spawnSync('umount', ['-l', join(directory, `${name}-root`)]))
    undo.push(() => void spawnSync('ip', ['netns', 'delete', `${lab}-${name}`]))
    const hostKey = readFileSync(`${keyFile}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')
    return { name, address, mac, hostKey }
  }

  const at = (name: string, part: string) => join(directory, `${name}-${part}`)
  const hostOf = (name: string): K3sHost => {
    const host = hosts.get(name)
    if (host === undefined) throw new Error(`there is no host ${name}`)
    return host
  }
  const known = join(directory, 'hosts')
  writeFileSync(known, hostsFile([...hosts.values()]))
  const enter = 'mount --bind "$0" /etc/hosts && net=$1 && shift && exec nsenter --net="$net" -- "$@"'
  const inside = (argv: readonly string[]) => [
    'unshare',
    '--mount',
    'sh',
    '-c',
    enter,
    known,
    `/run/netns/${lab}`,
    ...argv,
  ]

  /** Its network is made at each start, as its processes take it with them. */
  function plugIn({ name, address, mac }: K3sHost): string {
    const netns = `${lab}-${name}`
    spawnSync('ip', ['netns', 'delete', netns])
    spawnSync('ip', ['-n', lab, 'link', 'delete', name])
    must('ip', 'netns', 'add', netns)
    must('ip', '-n', lab, 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', netns)
    must('ip', '-n', lab, 'link', 'set', name, 'master', 'br0', 'up')
    must('ip', '-n', netns, 'link', 'set', 'lo', 'up')
    must('ip', '-n', netns, 'link', 'set', 'eth0', 'address', mac)
    must('ip', '-n', netns, 'address', 'add', `${address}/24`, 'dev', 'eth0')
    must('ip', '-n', netns, 'link', 'set', 'eth0', 'up')
    must('ip', '-n', netns, 'route', 'add', 'default', 'via', `${NETWORK}.1`)
    for (const setting of SETTINGS) spawnSync('ip', ['netns', 'exec', netns, 'sysctl', '-q', '-w', setting])
    return netns
  }

  function start(host: K3sHost): void {
    const { name } = host
    const netns = plugIn(host)
    const root = at(name, 'root')
    const layers = `lowerdir=${hostRootPath(K3S_HOST)},upperdir=${at(name, 'upper')},workdir=${at(name, 'work')}`
    must('mount', '-t', 'overlay', 'overlay', '-o', layers, root)
    prepare(root, name, readFileSync(`${key}.pub`, 'utf8'), at(name, 'key'), image)
    writeFileSync(join(root, 'etc/hosts'), hostsFile([host, ...[...hosts.values()].filter((one) => one !== host)]))
    const own = cgroupsOf(`${lab}-${name}`)
    const words = [
      'systemd-nspawn',
      '--quiet',
      '--boot',
      '--register=no',
      '--keep-unit',
      '--console=pipe',
      '--link-journal=no',
      '--resolv-conf=off',
      '--timezone=off',
      '--capability=all',
      '--system-call-filter=@keyring bpf',
      '--bind=/dev/kmsg',
      `--machine=${name}`,
      `--directory=${root}`,
      `--network-namespace-path=/run/netns/${netns}`,
    ]
    const child = spawn(own[0] ?? 'env', [...own.slice(1), ...words], { stdio: 'ignore' })
    running.set(name, child)
    child.once('exit', () => {
      if (running.get(name) !== child) return
      running.delete(name)
      spawnSync('umount', ['-l', root])
    })
  }

  async function untilUp(host: K3sHost): Promise<void> {
    for (let attempt = 0; attempt < 120; attempt++) {
      const { code } = await lab_.on(host.name, 'systemctl is-system-running --wait >/dev/null 2>&1; true')
      if (code === 0) return
      await sleep(500)
    }
    throw new Error(`${host.name} does not come up`)
  }

  async function off(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = running.get(name)
    if (child === undefined) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (signal === 'SIGKILL') pullPlug(child)
    else child.kill(signal)
    await Promise.race([ended, sleep(20_000).then(() => pullPlug(child))])
    await ended
    spawnSync('umount', ['-l', at(name, 'root')])
  }

  const lab_: K3sLab = {
    directory,
    key,
    gateway: `${NETWORK}.1`,
    hosts,
    inside,
    on(name, script, input = '') {
      const { address, hostKey } = hostOf(name)
      const known = join(directory, `${name}-known`)
      writeFileSync(known, `${address} ${hostKey}\n`)
      const words = ['ssh', '-F', 'none', '-i', key, '-o', `UserKnownHostsFile=${known}`, '-o', 'ConnectTimeout=5']
      return ended(inside([...words, '-o', 'BatchMode=yes', `root@${address}`, script]), input)
    },
    async boot(...which) {
      const list = which.map(hostOf)
      for (const host of list) if (!running.has(host.name)) start(host)
      for (const host of list) await untilUp(host)
    },
    isOn: (name) => running.has(name),
    cutPower: (name) => off(name, 'SIGKILL'),
    async emptyDisk(name) {
      await off(name, 'SIGKILL')
      for (const part of ['upper', 'work']) {
        rmSync(at(name, part), { recursive: true, force: true })
        mkdirSync(at(name, part))
      }
    },
    async close() {
      await Promise.all([...running.keys()].map((name) => off(name, 'SIGTERM')))
      clear()
    },
  }
  return lab_
}

/** A name of the API for the first three hosts, as rotated by a name server: each host finds itself first. */
export const API_NAME = 'api.lab.test'

function hostsFile(inOrder: readonly K3sHost[]): string {
  const servers = inOrder.filter(({ name }) => ['h1', 'h2', 'h3'].includes(name))
  const lines = [
    '127.0.0.1 localhost',
    ...inOrder.map(({ address, name }) => `${address} ${name}`),
    ...servers.map(({ address }) => `${address} ${API_NAME}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Ends a host with everything in it: the first process of a host takes all others along, systemd-nspawn takes none. */
function pullPlug({ pid }: ChildProcess): void {
  if (pid === undefined) return
  for (const one of [...childrenOf(pid), pid]) {
    try {
      process.kill(one, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
}

/** Every container runtime watches files, and hosts of one computer share what may be watched. Put back at the end. */
function raise(file: string, least: number, undo: (() => void)[]): void {
  const before = readFileSync(file, 'utf8').trim()
  if (Number(before) >= least) return
  writeFileSync(file, String(least))
  undo.push(() => writeFileSync(file, before))
}

/**
 * Provides what a real computer has and a container lacks: groups of resources that can be written, which nspawn
 * does not give where the kernel has the first version of them, and settings of the kernel as the kubelet wants them,
 * which a container must not change for the whole computer.
 */
const KERNEL = `#!/bin/sh
for group in /sys/fs/cgroup /sys/fs/cgroup/*; do mount -o remount,bind,rw $group 2>/dev/null; done
mount --make-rshared /
# What belongs to a network is this host's own.
mount --bind /proc/sys/net /proc/sys/net && mount -o remount,bind,rw /proc/sys/net
mkdir -p /run/lab
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1; do
  file=/run/lab/$(echo \${setting%=*} | tr / .)
  echo \${setting#*=} >$file
  mount --bind $file /proc/sys/\${setting%=*}
done
true
`

/** Its own keys and name. Written at each start: an empty disk gets new ones, as from an installer. */
function prepare(root: string, name: string, publicKey: string, hostKeyFile: string, image: string): void {
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text, { mode })
  }
  for (const file of readdirSync(join(root, 'etc/ssh')))
    if (file.startsWith('ssh_host_')) rmSync(join(root, 'etc/ssh', file))
  put('etc/ssh/ssh_host_ed25519_key', readFileSync(hostKeyFile, 'utf8'), 0o600)
  put('etc/ssh/ssh_host_ed25519_key.pub', readFileSync(`${hostKeyFile}.pub`, 'utf8'))
  put('etc/hostname', `${name}\n`)
  if (!existsSync(join(root, 'root/.ssh/authorized_keys'))) put('etc/machine-id', '')
  put('root/.ssh/authorized_keys', publicKey, 0o600)
  mkdirSync(join(root, IMAGES), { recursive: true })
  copyFileSync(image, join(root, IMAGES, 'lab.tar'))
  put(RUNTIME, 'version = 3\n[plugins."io.containerd.cri.v1.runtime"]\nrestrict_oom_score_adj = true\n')
  put('usr/local/sbin/lab-kernel', KERNEL, 0o755)
  put(
    'etc/systemd/system/lab-kernel.service',
    '[Unit]\nDefaultDependencies=no\nBefore=sysinit.target\nAfter=local-fs.target\n[Service]\nType=oneshot\nExecStart=/usr/local/sbin/lab-kernel\n[Install]\nWantedBy=sysinit.target\n',
  )
  const wants = join(root, 'etc/systemd/system/sysinit.target.wants')
  mkdirSync(wants, { recursive: true })
  const link = (target: string, path: string) => existsSync(path) || symlinkSync(target, path)
  link('../lab-kernel.service', join(wants, 'lab-kernel.service'))
  for (const unit of ['apt-daily.timer', 'apt-daily-upgrade.timer', 'systemd-timesyncd.service', 'fstrim.timer'])
    link('/dev/null', join(root, 'etc/systemd/system', unit))
}

/** Runs a program to its end. Nothing else of ours stands still meanwhile, so that a signal is heard. */
function ended(argv: readonly string[], input: string): Promise<{ readonly code: number; readonly out: string }> {
  return new Promise((resolve) => {
    const [program = '', ...rest] = argv
    const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'pipe'], timeout: COMMAND_MS })
    let out = ''
    const take = (chunk: Buffer) => {
      out += chunk.toString('utf8')
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.stdin.on('error', () => {})
    child.once('error', (error) => resolve({ code: -1, out: error.message }))
    child.once('close', (code) => resolve({ code: code ?? -1, out }))
    child.stdin.end(input)
  })
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function must(program: string, ...args: readonly string[]): void {
  const ran = spawnSync(program, args, { encoding: 'utf8' })
  if (ran.status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${ran.stderr || ran.error?.message || ran.status}`)
}
