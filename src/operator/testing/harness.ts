import assert from 'node:assert/strict'
import { createDatacentre, type Datacentre } from '../../../sim/datacentre.ts'
import { type KubernetesLab, oneApi } from '../../../sim/testing/kubernetes-lab.ts'
import { simWire } from '../../../sim/wire.ts'
import { proxmoxDriver } from '../../drivers/proxmox/driver.ts'
import { createEngine } from '../../engine/create.ts'
import { createKubernetesClient } from '../../kubernetes/client.ts'
import { at, type Foreign, recordsOf } from '../../kubernetes/objects.ts'
import { patience } from '../../kubernetes/patience.ts'
import { defined } from '../../lib/defined.ts'
import { seededRandom } from '../../lib/random.ts'
import { type Wire, WireFailure } from '../../lib/wire.ts'
import type { SecretReference } from '../../model/secret.ts'
import { openKubernetesStore } from '../../store/kubernetes.ts'
import type { NamespaceGrants } from '../grants.ts'
import { createOperation } from '../operate.ts'
import { secretPlace } from '../secret-place.ts'
import { composedHere } from './composed-here.ts'
import { madeByCrossplane, PROVIDER_KINDS, type ProviderVm, providerConfigOf } from './made-by-crossplane.ts'

/** A simulated cluster with the provider's definitions, beside a simulated Proxmox, on one virtual clock. */
export interface Ground {
  readonly api: KubernetesLab
  readonly datacentre: Datacentre
  call(method: string, path: string, body?: unknown): Promise<Foreign>
  get(path: string): Promise<Foreign | undefined>
  pass(ms: number): Promise<void>
  until(holds: () => boolean, maxMs?: number): Promise<void>
  start(options?: StartOptions): Promise<RunningOperator>
  /** Adds a connection, with its own Proxmox. */
  addConnection(name: string): Promise<Datacentre>
}

export interface StartOptions {
  readonly name?: string
  readonly wire?: Wire
  /** Error of its clock. */
  readonly skewMs?: number
  /** Expands instances of composed APIs. */
  readonly ownApis?: boolean
  /** Other namespaces that it reads. */
  readonly grants?: NamespaceGrants
  onCalm?(): void
}

export interface RunningOperator {
  readonly warnings: string[]
  readonly failure: () => unknown
  readonly working: () => readonly string[]
  stop(): Promise<void>
  /** Pauses as a whole, like a stopped process or a suspended machine; requests in flight may arrive. */
  pause(): void
  wake(): void
  /** Ends abruptly, like a machine without power. */
  die(): Promise<void>
}

export const VMS = '/apis/virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1/environmentvms'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** `callMs`: how long Proxmox takes for an answer; absent: no time. */
export async function createGround({ callMs }: { readonly callMs?: readonly [number, number] } = {}): Promise<Ground> {
  const api = await oneApi()
  const { lab } = api
  const datacentre = createDatacentre({
    clock: lab.clock,
    random: seededRandom(3),
    preset: 'homelab',
    timing: { ...TIMING, ...defined({ callMs }) },
  })
  const datacentres = new Map([['default', datacentre]])
  const call = async (method: string, path: string, body?: unknown): Promise<Foreign> => {
    const answer = await lab.call(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`)
    return JSON.parse(answer.body) as Foreign
  }
  for (const [group, version, plural, kind, scope] of PROVIDER_KINDS) {
    const names = { plural, kind, singular: kind.toLowerCase() }
    const versions = [{ name: version, served: true, storage: true, subresources: { status: {} } }]
    await call('POST', DEFINITIONS, {
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope, names, versions },
    })
  }
  await lab.pass(2_000)
  await call('POST', '/api/v1/namespaces', { metadata: { name: 'croft-system' } })
  const addCredentials = async (name: string, endpoint: string, token: string) => {
    const secret = name === 'default' ? 'proxmox-credentials' : `proxmox-${name}`
    const credentials = JSON.stringify({ endpoint, api_token: token })
    await call('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: secret },
      data: { credentials: Buffer.from(credentials).toString('base64') },
    })
    const secretRef = { name: secret, namespace: 'default', key: 'credentials' }
    await call('POST', '/apis/proxmoxbpg.crossplane.io/v1beta1/providerconfigs', {
      metadata: { name },
      spec: { credentials: { source: 'Secret', secretRef } },
    })
  }
  await addCredentials('default', 'https://192.168.4.175:8006/', datacentre.token)
  return {
    api,
    datacentre,
    call,
    async get(path) {
      const answer = await lab.call('GET', path)
      return answer.status === 404 ? undefined : (JSON.parse(answer.body) as Foreign)
    },
    pass: (ms) => lab.pass(ms),
    until: (holds, maxMs = 300_000) => lab.until(holds, maxMs),
    start: (options = {}) => startOperator(api, datacentres, options),
    async addConnection(name) {
      const other = createDatacentre({ clock: lab.clock, random: seededRandom(5), preset: 'homelab', timing: TIMING })
      datacentres.set(name, other)
      await addCredentials(name, `https://10.9.0.${datacentres.size}:8006/`, other.token)
      return other
    },
  }
}

const TIMING = { startMs: [100, 400], bootMs: [1_000, 2_000], shutdownMs: [500, 2_000] } as const

let seed = 11

async function startOperator(
  api: KubernetesLab,
  datacentres: ReadonlyMap<string, Datacentre>,
  { name = 'one', wire: given = api.wire(), skewMs = 0, ownApis = false, grants, onCalm }: StartOptions,
): Promise<RunningOperator> {
  const gate = createGate()
  const { clock: virtual } = api.lab
  const clock: typeof virtual = {
    ...virtual,
    now: () => virtual.now() + skewMs,
    async sleep(ms, signal) {
      await virtual.sleep(ms, signal)
      await gate.open()
    },
  }
  const wire = gate.around(given)
  const random = seededRandom(seed++)
  const client = createKubernetesClient(wire)
  const home = 'croft-system'
  const warnings: string[] = []
  const stop = new AbortController()
  const warn = (message: string) => void warnings.push(message)
  const wait = patience({ clock, random, signal: stop.signal, warn })
  const resolveSecret = async (reference: SecretReference) => {
    if (!('secretRef' in reference)) throw new Error('only Secrets are here')
    const place = secretPlace(reference.secretRef, home)
    if ('refused' in place) throw new Error(place.refused)
    const found = await operation.source.secret(place)
    return found ?? assert.fail(`there is no Secret ${place.name}`)
  }
  const operation = createOperation({
    client,
    wire,
    clock,
    random,
    home,
    name,
    wait,
    openStore: (place) => openKubernetesStore({ client, namespace: home, random, wait, ...place }),
    openEngine: async (store, epoch) =>
      createEngine({
        clock,
        random,
        store,
        epoch,
        otherClocks: true,
        drivers: [proxmoxDriver],
        driverDeps: {
          clock,
          random,
          openWire: (connection) => gate.around(simWire(datacentreOf(connection.name))),
          resolveSecret,
        },
      }),
    resolveSecret,
    ownApis,
    composer: composedHere,
    note: () => {},
    warn,
    ...defined({ onCalm, grants }),
  })
  const datacentreOf = (connection: string) =>
    datacentres.get(connection) ?? assert.fail(`there is no connection ${connection}`)
  let failure: unknown
  const running = operation.run(stop.signal).catch((error: unknown) => {
    failure = error
    stop.abort()
  })
  return {
    warnings,
    failure: () => failure,
    working: () => operation.working(),
    async stop() {
      stop.abort()
      await clock.runUntil(running)
    },
    pause: () => gate.shut(),
    wake: () => gate.lift(),
    async die() {
      gate.kill()
      stop.abort()
      await clock.runUntil(running)
    },
  }
}

/** Makes a gate at which a paused process waits. */
function createGate() {
  let dead = false
  let lift = () => {}
  let closed: Promise<void> | undefined
  const open = async () => {
    while (closed !== undefined) await closed
  }
  const pass = async () => {
    await open()
    if (dead) throw new WireFailure('no', 'EPIPE', 'this process is dead')
  }
  return {
    open,
    shut() {
      closed = new Promise((resolve) => {
        lift = resolve
      })
    },
    lift() {
      closed = undefined
      lift()
    },
    kill() {
      dead = true
      closed = undefined
      lift()
    },
    around: (base: Wire): Wire => ({
      async send(request, signal) {
        await pass()
        const answer = await base.send(request, signal)
        await pass()
        return answer
      },
      async stream(request, onText, signal) {
        await pass()
        assert.ok(base.stream)
        const late: string[] = []
        const take = (text: string) => {
          late.push(text)
          if (closed === undefined) onText(late.shift() ?? '')
          else void open().then(() => onText(late.shift() ?? ''))
        }
        const answer = await base.stream(request, take, signal)
        await pass()
        return answer
      },
      close: () => base.close(),
    }),
  }
}

/** `True ReconcileSuccess`, or undefined. */
export function conditionOf(object: Foreign | undefined, type: string): string | undefined {
  const found = recordsOf(at(object, 'status', 'conditions')).find((one) => one.type === type)
  return found === undefined ? undefined : `${String(found.status)} ${String(found.reason)}`
}

/** A cluster with one VM that Crossplane made, and the VM on Proxmox. */
export async function groundWith(vm: ProviderVm): Promise<Ground> {
  const ground = await createGround()
  ground.datacentre.addGuest(vm.vmid, vm.node, providerConfigOf(vm), true)
  await ground.call('POST', VMS, madeByCrossplane(vm))
  return ground
}
