import { createHash } from 'node:crypto'
import { type Ran, type Shell, ShellFailure } from '../../src/lib/shell.ts'
import { between } from '../world/chance.ts'
import { GIB } from '../world/sizes.ts'
import type { World } from '../world/types.ts'
import { checksumOf } from '../world/volumes.ts'
import type { Said } from './command.ts'
import { type LibvirtHost, volumes } from './domains.ts'
import { virsh } from './virsh.ts'
import { virshConsole } from './virsh-console.ts'
import { makeVolume } from './volume-commands.ts'

const ROUND_TRIP_MS = 30

/** What Debian's packages bring along. */
const POOL =
  "<pool type='dir'><name>default</name><uuid>00000000-0000-4000-8000-00000000000a</uuid><target><path>/var/lib/libvirt/images</path></target></pool>"
const NETWORK =
  "<network><name>default</name><uuid>00000000-0000-4000-8000-00000000000b</uuid><forward mode='nat'/><bridge name='virbr0'/><ip address='192.168.122.1' netmask='255.255.255.0'><dhcp><range start='192.168.122.2' end='192.168.122.254'/></dhcp></ip></network>"

/** A host of the simulated world with libvirt on it: one pool, one network, nothing else yet. */
export function createLibvirtHost(world: World, name: string): LibvirtHost {
  const host = world.hosts.get(name)
  if (host === undefined) throw new Error(`there is no host ${name}`)
  const at: LibvirtHost = {
    world,
    host,
    identity: identityOf(name),
    failing: new Map(),
    domains: new Map(),
    pools: new Map(),
    networks: new Map(),
    jobs: new Map(),
    neighbours: new Map(),
    leases: new Map(),
  }
  for (const [verb, xml] of [
    ['pool-define', POOL],
    ['net-define', NETWORK],
  ] as const) {
    virsh(at, [verb, '/dev/stdin'], xml)
    virsh(at, [verb.replace('define', 'start'), 'default', '--build'], undefined)
  }
  return at
}

/** As a host of this name has it in every run. */
function identityOf(name: string): LibvirtHost['identity'] {
  const digits = createHash('sha256').update(name).digest('hex')
  const uuid = [8, 12, 16, 20, 32].map((to, at) => digits.slice([0, 8, 12, 16, 20][at], to)).join('-')
  return { uuid, machineId: digits.slice(32) }
}

/** Puts an image into a pool, as if it had been there always. */
export function putImage(at: LibvirtHost, pool: string, name: string, sizeGb = 3, checksumSeed = name): void {
  volumes(at, pool).set(name, {
    name,
    content: 'import',
    format: 'qcow2',
    sizeBytes: sizeGb * GIB,
    ctimeSeconds: 1,
    system: { agent: true, acpi: true },
    checksumSeed,
  })
}

/** Programs on a simulated host with libvirt: virsh, and the jobs that croft leaves there. */
export function libvirtShell(at: LibvirtHost): Shell {
  return {
    async run(argv, options = {}): Promise<Ran> {
      await at.world.clock.sleep(ROUND_TRIP_MS, options.signal)
      if (options.signal?.aborted) throw new ShellFailure('no', 'aborted', 'it was called off')
      if (at.host.power !== 'on') throw new ShellFailure('no', 'unreachable', `${at.host.name} does not answer`)
      const [program] = argv
      if (program === 'setsid') return begin(at, argv.slice(argv.indexOf('croft-job') + 1))
      if (argv.includes('virsh')) return ranVirsh(at, argv.slice(argv.indexOf('virsh') + 3), options.input)
      if (argv.includes('croft-uptime')) return uptime(at, argv.at(-1) ?? '')
      if (argv.includes('croft-neighbours')) return neighbours(at)
      if (program === 'sh') return look(at, argv.at(-1) ?? '')
      return { code: 127, stdout: '', stderr: `${program}: command not found\n` }
    },
    readFile: async (path) =>
      path === '/etc/machine-id' ? new TextEncoder().encode(`${at.identity.machineId}\n`) : undefined,
    writeFile: () => Promise.resolve(),
    terminal: async (argv) => virshConsole(at, argv),
    close: () => Promise.resolve(),
  }
}

function ranVirsh(at: LibvirtHost, words: readonly string[], input: string | Uint8Array | undefined): Ran {
  if (words.length > 0) {
    const said = virsh(at, words, input)
    return 'out' in said
      ? { code: 0, stdout: said.out, stderr: '' }
      : { code: 1, stdout: '', stderr: `error: ${said.error}\n` }
  }
  let stdout =
    "Welcome to virsh, the virtualization interactive terminal.\n\nType:  'help' for help with commands\n       'quit' to quit\n\n"
  let stderr = ''
  for (const line of String(input).split('\n')) {
    if (line === '') continue
    stdout += `virsh # ${line}\n`
    const [verb = '', ...rest] = wordsOf(line)
    const said: Said = verb === 'echo' ? { out: rest.join(' ') } : virsh(at, [verb, ...rest], undefined)
    if ('out' in said) stdout += said.out
    else stderr += `error: ${said.error}\n\n`
  }
  return { code: 0, stdout, stderr }
}

/** A line as virsh takes it apart. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = []
  for (const [, quoted, bare] of line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g))
    words.push(quoted === undefined ? (bare ?? '') : quoted.replace(/\\(.)/g, '$1'))
  return words
}

/** `ip -o addr show` and `ip neigh show`. */
function neighbours({ neighbours: there }: LibvirtHost): Ran {
  const own = '3: virbr0    inet 192.168.122.1/24 brd 192.168.122.255 scope global virbr0\\       valid_lft forever\n'
  const table = [...there].map(([address, { mac, state }]) => `${address} dev virbr0 lladdr ${mac} ${state}\n`)
  return { code: 0, stdout: `${own}${table.join('')}`, stderr: '' }
}

function begin(at: LibvirtHost, [id = '', , , kind, ...rest]: readonly string[]): Ran {
  const job: { state: 'running' | 'done' | 'failed'; log: string } = { state: 'running', log: '' }
  at.jobs.set(id, job)
  const { world } = at
  world.clock.schedule(world.clock.now() + between(world.random, [3_000, 20_000]), () => {
    const failure = kind === 'copy' ? copied(at, rest) : kind === 'fetch' ? fetched(at, rest) : verified(at, rest)
    job.state = failure === undefined ? 'done' : 'failed'
    job.log = failure ?? ''
  })
  return { code: 0, stdout: '', stderr: '' }
}

function copied(
  at: LibvirtHost,
  [, pool = '', xml = '', inputPool = '', input = '']: readonly string[],
): string | undefined {
  const source = volumes(at, inputPool).get(input)
  const name = /<name>([^<]+)<\/name>/.exec(xml)?.[1] ?? ''
  if (source === undefined) return `error: failed to get vol '${input}'`
  const said = makeVolume(
    at,
    new Map([
      ['pool', pool],
      ['name', name],
      ['capacity', String(source.sizeBytes)],
    ]),
  )
  if ('error' in said) return `error: ${said.error}`
  const made = volumes(at, pool).get(name)
  if (made !== undefined && source.system !== undefined) made.system = source.system
  return undefined
}

/** What lies behind an address has the checksum that follows from it. */
function fetched(
  at: LibvirtHost,
  [, pool = '', , name = '', url = '', algorithm = '', sum = '']: readonly string[],
): string | undefined {
  if (!/^https?:/.test(url)) return 'curl: (1) Protocol not supported'
  if (sum !== '' && sum !== checksumOf(url, algorithm)) return MISMATCH
  putImage(at, pool, name, undefined, url)
  return undefined
}

function verified(
  at: LibvirtHost,
  [, pool = '', , name = '', algorithm = '', sum = '']: readonly string[],
): string | undefined {
  const seed = volumes(at, pool).get(name)?.checksumSeed
  return seed !== undefined && sum === checksumOf(seed, algorithm) ? undefined : MISMATCH
}

const MISMATCH = 'croft: ChecksumMismatch'

function look(at: LibvirtHost, id: string): Ran {
  const job = at.jobs.get(id)
  return job === undefined
    ? { code: 3, stdout: '', stderr: '' }
    : { code: 0, stdout: `${job.state}\n${job.log}`, stderr: '' }
}

function uptime(at: LibvirtHost, path: string): Ran {
  const name = /\/([^/]+)\.pid$/.exec(path)?.[1]
  const domain = [...at.domains.values()].find((one) => one.name === name)
  if (domain?.live === undefined) return { code: 1, stdout: '', stderr: 'No such file or directory' }
  return {
    code: 0,
    stdout: `${Math.floor((at.world.clock.now() - domain.guest.run.startedAtMs) / 1000)}\n`,
    stderr: '',
  }
}
