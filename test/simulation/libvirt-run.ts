import { createDatacentre, type Datacentre } from '../../sim/datacentre.ts'
import { releaseChecksum } from '../../sim/k3s/install.ts'
import { kubernetesWire } from '../../sim/kubernetes/wire.ts'
import type { LibvirtHost } from '../../sim/libvirt/domains.ts'
import { createLibvirtHost, libvirtShell } from '../../sim/libvirt/shell.ts'
import { createVirtualClock, type VirtualClock } from '../../sim/virtual-clock.ts'
import type { KubernetesTarget } from '../../src/drivers/cluster-port.ts'
import { createK3sDriver } from '../../src/drivers/k3s/driver.ts'
import { libvirtDriver } from '../../src/drivers/libvirt/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import type { Engine, PassReport } from '../../src/engine/engine.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { PermittedPlace } from '../../src/lib/outgoing.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Shell } from '../../src/lib/shell.ts'
import type { Estate } from '../../src/model/estate.ts'
import type { Plan } from '../../src/model/plan.ts'
import { Secret } from '../../src/model/secret.ts'
import { createMemoryStore, type MemoryDisk } from '../../src/store/memory.ts'
import { judgedByTable } from '../destroying-calls.ts'
import { memoryVault } from './cluster-run.ts'

const WRITE =
  /^(?:define|undefine|start|shutdown|destroy|resume|autostart|detach-disk|change-media|blockresize|(?:net|pool)-(?:define|undefine|start|destroy|autostart)|vol-(?:create|delete|resize|upload)\S*)$/

export interface LibvirtRun {
  readonly clock: VirtualClock
  readonly datacentre: Datacentre
  readonly host: LibvirtHost
  /** Replace it to lose the store. */
  disk: MemoryDisk
  /** The secrets of clusters. */
  readonly vault: ReturnType<typeof memoryVault>
  estate: Estate
  /** How long a controller tries. */
  deadlineMs: number
  /** Calls that wrote, in order. */
  readonly writes: string[]
  points(): number
  /** What a controller would do now. */
  plan(): Promise<Plan>
  /**
   * One controller until the estate is settled, or until it is killed at this effect point. `wallOffMs` is how wrong the
   * clock on its wall is.
   */
  settle(
    crashAt?: number,
    onPass?: (report: PassReport) => void,
    wallOffMs?: () => number,
  ): Promise<'settled' | 'killed' | 'deadline'>
}

/** The real engine, planner, driver and store on a simulated host with libvirt, under one seed. */
export function simulateLibvirt(seed: number, estate: Estate, hostName: string): LibvirtRun {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({
    clock,
    random: seededRandom(seed),
    preset: 'empty',
    hosts: [hostName],
    timing: { bootMs: [2_000, 6_000], shutdownMs: [500, 2_000] },
  })
  const host = createLibvirtHost(datacentre.world, hostName)
  const random = seededRandom(seed ^ 0x5bd1e995)
  const vault = memoryVault()
  const writes: string[] = []
  let passed = 0

  const opened = (itsClock: Clock, shell: Shell): Engine => {
    const secret = new Secret('unused')
    return createEngine({
      clock: itsClock,
      random,
      store: createMemoryStore(run.disk),
      drivers: [judgedByTable(libvirtDriver)],
      driverDeps: {
        clock: itsClock,
        random,
        openWire: () => {
          throw new Error('libvirt needs no wire')
        },
        openShell: () => shell,
        resolveSecret: async () => secret,
      },
      clusters: async () => ({
        driver: createK3sDriver(),
        deps: {
          clock: itsClock,
          vault,
          randomBytes: (count: number) => Uint8Array.from({ length: count }, () => Math.floor(random.next() * 256)),
          openKubernetes: (target: KubernetesTarget) => kubernetesWire(datacentre.world, target),
          resolveSecret: async () => secret,
          fetchText: async ({ url }: PermittedPlace) => checksums(url.href),
        },
        openShell: () => shell,
      }),
    })
  }
  // Nothing here stands inside a cluster: its API is spoken to by the cluster's own session alone.
  const reached = (): Estate => ({
    ...run.estate,
    connections: run.estate.connections.filter(({ driver }) => driver !== 'kubernetes'),
  })

  const run: LibvirtRun = {
    clock,
    datacentre,
    host,
    disk: createMemoryStore().disk,
    vault,
    estate,
    deadlineMs: 6 * 3_600_000,
    writes,
    points: () => passed,
    async plan() {
      const inner = libvirtShell(host)
      const shell: Shell = {
        ...inner,
        run: (argv, options) => {
          if (isWrite(argv)) writes.push(argv.join(' '))
          return inner.run(argv, options)
        },
        writeFile: (path, ...rest) => {
          writes.push(`write ${path}`)
          return inner.writeFile(path, ...rest)
        },
      }
      return clock.runUntil(opened(clock, shell).plan(reached(), new AbortController().signal), { maxMs: 3_600_000 })
    },
    async settle(crashAt, onPass, wallOffMs = () => 0) {
      const itsClock: Clock = { ...clock, now: () => clock.now() + wallOffMs() }
      passed = 0
      let die: () => void = () => {}
      let dead = false
      const death = new Promise<'killed'>((done) => {
        die = () => {
          dead = true
          done('killed')
        }
      })
      const never = new Promise<never>(() => {})
      const point = async () => {
        if (dead) return never
        if (++passed === crashAt) {
          die()
          return never
        }
      }
      const inner = libvirtShell(host)
      const shell: Shell = {
        ...inner,
        async run(argv, options) {
          if (dead) return never
          if (!isWrite(argv)) return inner.run(argv, options)
          await point()
          writes.push(argv[0] === 'setsid' ? argv.slice(8).join(' ') : argv.slice(argv.indexOf('virsh') + 3).join(' '))
          const ran = await inner.run(argv, options)
          await point()
          return dead ? never : ran
        },
      }
      const engine = opened(itsClock, shell)
      const work = engine.settle(reached(), {
        signal: new AbortController().signal,
        deadlineMs: run.deadlineMs,
        ...(onPass === undefined ? {} : { onPass }),
      })
      const outcome = await clock.runUntil(Promise.race([work, death]), { maxMs: 7 * 3_600_000 })
      if (outcome === 'killed') return 'killed'
      return outcome.outcome === 'settled' ? 'settled' : 'deadline'
    },
  }
  return run
}

function isWrite(argv: readonly string[]): boolean {
  return WRITE.test(argv[argv.indexOf('virsh') + 3] ?? '') || argv[0] === 'setsid'
}

function checksums(url: string): string {
  const version = decodeURIComponent(/\/(v[^/]+)\/sha256sum-/.exec(url)?.[1] ?? '')
  return ['k3s', 'k3s-arm64'].map((name) => `${releaseChecksum(version)}  ${name}\n`).join('')
}
