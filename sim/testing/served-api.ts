import { renderKubeconfig } from '../../src/kubernetes/kubeconfig.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Wire } from '../../src/lib/wire.ts'
import { BINARY, programText, unitPath } from '../k3s/disk.ts'
import { startService } from '../k3s/service.ts'
import { type ClusterProxy, serveClusters } from '../kubernetes/proxy.ts'
import { kubernetesWire } from '../kubernetes/wire.ts'
import { addBox } from '../metal/box.ts'
import { createScaledClock } from '../scaled-clock.ts'
import type { SimClock } from '../sim-clock.ts'
import { createWorld } from '../world/create-world.ts'
import { adminOf, FIRST, RECORDED_VERSION } from './k3s-lab.ts'

/** The API of a simulated cluster of one server, served over TLS to other processes. */
export interface ServedApi {
  readonly clock: SimClock
  /** For HTTPS_PROXY: the address in the kubeconfig is reached through it. */
  readonly proxy: ClusterProxy
  /** Of an administrator. */
  readonly kubeconfig: string
  /** The same, without a socket. */
  readonly wire: Wire
  /** Told of every object that is written or deleted: `/configmaps` and its name. */
  onWrite(told: (resource: string, name: string) => void): void
  close(): Promise<void>
}

/** The one server of the cluster. */
export interface ServedNode {
  readonly name: string
  readonly address: string
  /** More flags of K3s. */
  readonly flags?: Readonly<Record<string, unknown>>
}

const NODE: ServedNode = { name: 's1', address: '10.67.0.1' }
/** Until its node is there; then time goes as outside. */
const FORMING_TRIES = 600

export async function serveApi(clock: SimClock = createScaledClock(), node = NODE): Promise<ServedApi> {
  const { name, address } = node
  const world = createWorld({ clock, random: seededRandom(3) })
  const box = addBox(world, { name, addresses: [address] })
  box.machine.files.write(BINARY, programText(RECORDED_VERSION))
  const flags = { 'node-name': name, 'node-ip': address, ...FIRST, ...node.flags }
  box.machine.files.write('/etc/rancher/k3s/config.yaml', JSON.stringify(flags))
  box.machine.files.write(unitPath('server'), '')
  startService(box.computer)
  const isReady = () =>
    [...world.k3s.clusters.values()].some(({ store }) =>
      [...(store.tables.get('/nodes')?.values() ?? [])].some(({ status }) =>
        JSON.stringify(status).includes('"KubeletReady"'),
      ),
    )
  for (let tries = 0; !isReady(); tries++) {
    if (tries === FORMING_TRIES) throw new Error('the simulated cluster did not become ready')
    await clock.sleep(500)
  }
  const [cluster] = world.k3s.clusters.values()
  const files = cluster?.bootstrap.files ?? new Map<string, string>()
  const access = {
    endpoint: `https://${address}:6443`,
    caPem: files.get('server-ca.crt') ?? '',
    ...adminOf(files, clock.now()),
  }
  const proxy = await serveClusters(world)
  return {
    clock,
    proxy,
    kubeconfig: renderKubeconfig({ name: 'simulated', ...access }),
    wire: kubernetesWire(world, access),
    onWrite: (told) =>
      void cluster?.store.listeners.add(({ resource, object: { metadata } }) => told(resource, metadata.name)),
    close: () => proxy.close(),
  }
}
