import assert from 'node:assert/strict'
import { createDatacentre, type Datacentre } from '../../../sim/datacentre.ts'
import { type KubernetesLab, oneApi } from '../../../sim/testing/kubernetes-lab.ts'
import { simWire } from '../../../sim/wire.ts'
import { proxmoxDriver } from '../../drivers/proxmox/driver.ts'
import { createEngine } from '../../engine/create.ts'
import { createKubernetesClient } from '../../kubernetes/client.ts'
import { at, type Foreign, recordsOf } from '../../kubernetes/objects.ts'
import { patience } from '../../kubernetes/patience.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Wire } from '../../lib/wire.ts'
import type { SecretReference } from '../../model/secret.ts'
import { openKubernetesStore } from '../../store/kubernetes.ts'
import { createClusterSource } from '../cluster-source.ts'
import { createOperator } from '../operator.ts'

/** A simulated cluster with the provider's definitions, beside a simulated Proxmox, on one virtual clock. */
export interface Ground {
  readonly api: KubernetesLab
  readonly datacentre: Datacentre
  call(method: string, path: string, body?: unknown): Promise<Foreign>
  get(path: string): Promise<Foreign | undefined>
  pass(ms: number): Promise<void>
  until(holds: () => boolean, maxMs?: number): Promise<void>
  start(options?: { readonly name?: string; readonly wire?: Wire }): Promise<RunningOperator>
}

export interface RunningOperator {
  readonly warnings: string[]
  readonly failure: () => unknown
  stop(): Promise<void>
}

export const VMS = '/apis/virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1/environmentvms'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const KINDS = [
  ['virtualenvironmentvm.proxmoxbpg.crossplane.io', 'v1alpha1', 'environmentvms', 'EnvironmentVM', 'Cluster'],
  [
    'virtualenvironmentdownloadfile.proxmoxbpg.crossplane.io',
    'v1alpha1',
    'environmentdownloadfiles',
    'EnvironmentDownloadFile',
    'Cluster',
  ],
  ['proxmoxbpg.crossplane.io', 'v1beta1', 'providerconfigs', 'ProviderConfig', 'Cluster'],
  ['croft.dev', 'v1alpha1', 'approvals', 'Approval', 'Namespaced'],
] as const

export async function createGround(): Promise<Ground> {
  const api = await oneApi()
  const { lab } = api
  const datacentre = createDatacentre({
    clock: lab.clock,
    random: seededRandom(3),
    preset: 'homelab',
    timing: { startMs: [100, 400], bootMs: [1_000, 2_000], shutdownMs: [500, 2_000] },
  })
  const call = async (method: string, path: string, body?: unknown): Promise<Foreign> => {
    const answer = await lab.call(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`)
    return JSON.parse(answer.body) as Foreign
  }
  for (const [group, version, plural, kind, scope] of KINDS) {
    const names = { plural, kind, singular: kind.toLowerCase() }
    const versions = [{ name: version, served: true, storage: true, subresources: { status: {} } }]
    await call('POST', DEFINITIONS, {
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope, names, versions },
    })
  }
  await lab.pass(2_000)
  await call('POST', '/api/v1/namespaces', { metadata: { name: 'croft-system' } })
  const credentials = JSON.stringify({ endpoint: 'https://192.168.4.175:8006/', api_token: datacentre.token })
  await call('POST', '/api/v1/namespaces/default/secrets', {
    metadata: { name: 'proxmox-credentials' },
    data: { credentials: Buffer.from(credentials).toString('base64') },
  })
  const secretRef = { name: 'proxmox-credentials', namespace: 'default', key: 'credentials' }
  await call('POST', '/apis/proxmoxbpg.crossplane.io/v1beta1/providerconfigs', {
    metadata: { name: 'default' },
    spec: { credentials: { source: 'Secret', secretRef } },
  })
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
    start: (options = {}) => startOperator(api, datacentre, options),
  }
}

async function startOperator(
  api: KubernetesLab,
  datacentre: Datacentre,
  { name = 'one', wire = api.wire() }: { readonly name?: string; readonly wire?: Wire },
): Promise<RunningOperator> {
  const { clock } = api.lab
  const random = seededRandom(11)
  const client = createKubernetesClient(wire)
  const home = 'croft-system'
  const warnings: string[] = []
  const stop = new AbortController()
  const warn = (message: string) => void warnings.push(message)
  const wait = patience({ clock, random, signal: stop.signal, warn })
  const store = openKubernetesStore({ client, namespace: home, name: 'croft-state', random, wait })
  const epoch = await clock.runUntil(store.beginEpoch())
  let poke = () => {}
  const source = createClusterSource({ client, wire, clock, random, home, wait, onChange: () => poke(), warn })
  const resolveSecret = async (reference: SecretReference) => {
    if (!('secretRef' in reference)) throw new Error('only Secrets are here')
    const { name: secret, key, namespace = home } = reference.secretRef
    return (await source.secret({ name: secret, namespace, key })) ?? assert.fail(`there is no Secret ${secret}`)
  }
  const engine = createEngine({
    clock,
    random,
    store,
    epoch,
    drivers: [proxmoxDriver],
    driverDeps: { clock, random, openWire: () => simWire(datacentre), resolveSecret },
  })
  const operator = await createOperator({
    clock,
    store,
    epoch,
    engine,
    source,
    resolveSecret,
    back: { client, home, name, warn },
  })
  poke = () => operator.poke('cluster')
  let failure: unknown
  const running = Promise.all([source.run(stop.signal), operator.run(stop.signal)]).catch((error: unknown) => {
    failure = error
    stop.abort()
  })
  return {
    warnings,
    failure: () => failure,
    async stop() {
      stop.abort()
      await clock.runUntil(running)
    },
  }
}

/** `True ReconcileSuccess`, or undefined. */
export function conditionOf(object: Foreign | undefined, type: string): string | undefined {
  const found = recordsOf(at(object, 'status', 'conditions')).find((one) => one.type === type)
  return found === undefined ? undefined : `${String(found.status)} ${String(found.reason)}`
}
