import { seededRandom } from '../../src/lib/random.ts'
import type { WireResponse } from '../../src/lib/wire.ts'
import { Secret } from '../../src/model/secret.ts'
import { issueLeaf } from '../k3s/authorities.ts'
import { BINARY, programText, unitName, unitPath } from '../k3s/disk.ts'
import { serviceOf, startService } from '../k3s/service.ts'
import type { KubeObject } from '../kubernetes/object.ts'
import { kubernetesWire } from '../kubernetes/wire.ts'
import { addBox } from '../metal/box.ts'
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts'
import { createWorld } from '../world/create-world.ts'
import type { Box, EtcdCluster, World } from '../world/types.ts'

export const SERVER_PASSWORD = 'c0ffee00c0ffee00c0ffee00c0ffee00'
export const AGENT_PASSWORD = 'a6e47000a6e47000a6e47000a6e47000'
export const RECORDED_VERSION = 'v1.36.3+k3s1'

/** Boxes s1… (10.67.0.1…) and a1 (10.67.0.4), as the recorded cluster had them, with K3s installed and not started. */
export interface Lab {
  readonly world: World
  readonly clock: VirtualClock
  box(name: string): Box
  /** Starts K3s with these flags; answers when it has been started, not when it is ready. */
  start(name: string, role: 'server' | 'agent', flags: Readonly<Record<string, unknown>>): void
  cluster(name?: string): EtcdCluster
  /** Virtual time passes. */
  pass(ms: number): Promise<void>
  until(condition: () => boolean, maxMs?: number): Promise<void>
  node(name: string): KubeObject | undefined
  isReady(name: string): boolean
  /** As the administrator, on the API of a server. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
    server?: string,
  ): Promise<WireResponse>
  journal(name: string): readonly string[]
}

const START_MS = Date.parse('2026-11-15T01:32:09Z')
const ADDRESSES: Readonly<Record<string, string>> = {
  s1: '10.67.0.1',
  s2: '10.67.0.2',
  s3: '10.67.0.3',
  a1: '10.67.0.4',
}

export function createLab(seed = 1, version = RECORDED_VERSION): Lab {
  const clock = createVirtualClock(START_MS)
  const world = createWorld({ clock, random: seededRandom(seed) })
  for (const [name, address] of Object.entries(ADDRESSES)) {
    const box = addBox(world, { name, addresses: [address] })
    box.machine.files.write(BINARY, programText(version))
  }
  const box = (name: string): Box => {
    const found = world.metal.get(name)
    if (found === undefined) throw new Error(`there is no box ${name}`)
    return found
  }
  const cluster = (name = 's1'): EtcdCluster => {
    const found = box(name).machine.k3s?.process?.cluster
    if (found === undefined) throw new Error(`${name} is in no cluster`)
    return found
  }
  const node = (name: string) =>
    [...world.k3s.clusters.values()]
      .map(({ store }) => store.tables.get('/nodes')?.get(name))
      .find((one) => one !== undefined)
  const lab: Lab = {
    world,
    clock,
    box,
    cluster,
    node,
    start(name, role, flags) {
      const { machine, computer } = box(name)
      const config = { 'node-name': name, 'node-ip': ADDRESSES[name], ...flags }
      machine.files.write('/etc/rancher/k3s/config.yaml', JSON.stringify(config))
      machine.files.write(unitPath(role), '[Service]\n')
      machine.enabled.add(unitName(role))
      startService(computer)
    },
    pass: (ms) => clock.advanceTo(clock.now() + ms),
    until: (condition, maxMs = 120_000) => clock.runUntil(condition, { maxMs }),
    isReady: (name) => {
      const conditions = (node(name)?.status as { conditions?: { type: string; status: string }[] } | undefined)
        ?.conditions
      return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
    },
    call(method, path, body, headers = {}, server = 's1') {
      const files = cluster(server).bootstrap.files
      const admin = adminOf(files, clock.now())
      const wire = kubernetesWire(world, {
        endpoint: `https://${ADDRESSES[server]}:6443`,
        caPem: files.get('server-ca.crt') ?? '',
        ...admin,
      })
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      return clock.runUntil(
        wire.send({
          method,
          path,
          headers: { 'Content-Type': type, ...headers },
          ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
      )
    },
    journal: (name) => serviceOf(box(name).computer).journal.map(({ level, message }) => `${level}: ${message}`),
  }
  return lab
}

const admins = new WeakMap<ReadonlyMap<string, string>, { certificatePem: string; key: Secret }>()

export function adminOf(files: ReadonlyMap<string, string>, nowMs: number): { certificatePem: string; key: Secret } {
  const known = admins.get(files)
  if (known !== undefined) return known
  const { certificate, keyPem } = issueLeaf(
    files,
    'client-ca',
    { commonName: 'system:admin', organizations: ['system:masters'], usages: ['clientAuth'] },
    nowMs,
  )
  const admin = { certificatePem: certificate.pem, key: new Secret(keyPem) }
  admins.set(files, admin)
  return admin
}

export const FIRST = {
  'cluster-init': true,
  token: SERVER_PASSWORD,
  'agent-token': AGENT_PASSWORD,
  'secrets-encryption': true,
  disable: ['traefik'],
}

export const JOIN = {
  server: 'https://10.67.0.1:6443',
  token: SERVER_PASSWORD,
  'agent-token': AGENT_PASSWORD,
  'secrets-encryption': true,
  disable: ['traefik'],
}

/** Three servers, one after the other, all Ready. */
export async function threeServers(seed = 1, version = RECORDED_VERSION): Promise<Lab> {
  const lab = createLab(seed, version)
  lab.start('s1', 'server', FIRST)
  await lab.until(() => lab.isReady('s1'))
  for (const name of ['s2', 's3']) {
    lab.start(name, 'server', JOIN)
    await lab.until(() => lab.isReady(name))
  }
  return lab
}
