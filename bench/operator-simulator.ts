import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createDatacentre, type Datacentre } from '../sim/datacentre.ts'
import { serveDatacentre } from '../sim/serve.ts'
import { serveApi } from '../sim/testing/served-api.ts'
import { recordOf } from '../src/kubernetes/objects.ts'
import { seededRandom } from '../src/lib/random.ts'
import {
  madeByCrossplane,
  PROVIDER_KINDS,
  providerConfigOf,
  providerVms,
  statusByCrossplane,
} from '../src/operator/testing/made-by-crossplane.ts'

/**
 * One Kubernetes API and many Proxmox hosts for bench/operator.ts: `MACHINES CONNECTIONS FILE`. Objects and guests are as
 * Crossplane and its provider leave them. Writes the kubeconfig to the file, prints where it answers, and then one line
 * for each line that it is given: `stats`, or `change` with how long a change took from the object to Proxmox.
 */
const [machines = 0, connections = 1] = process.argv.slice(2, 4).map(Number)
const kubeconfig = process.argv[4] ?? ''
const VMS = '/apis/virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1/environmentvms'
const PATIENCE_MS = 60_000

const api = await serveApi()
const call = async (method: string, path: string, body: unknown): Promise<void> => {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const answer = await api.wire.send({
    method,
    path,
    headers: { 'Content-Type': type },
    body: JSON.stringify(body),
  })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.body}`)
}
for (const [group, version, plural, kind, scope] of PROVIDER_KINDS)
  await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, subresources: { status: {} } }],
    },
  })
await api.clock.sleep(2_000)
await call('POST', '/api/v1/namespaces', { metadata: { name: 'croft-system' } })
const datacentres: Datacentre[] = []
const each = Math.ceil(machines / connections)
const vms: { readonly name: string; readonly vmid: number; readonly place: number }[] = []
for (let place = 0; place < connections; place++) {
  const random = seededRandom(place + 1)
  const datacentre = createDatacentre({ clock: api.clock, random, preset: 'homelab' })
  const { endpoint, fingerprint } = await serveDatacentre(datacentre, { port: 0 })
  datacentres.push(datacentre)
  const connection = `site-${place}`
  const credentials = JSON.stringify({ endpoint: `${endpoint}/`, api_token: datacentre.token })
  await call('POST', '/api/v1/namespaces/default/secrets', {
    metadata: { name: connection },
    data: { credentials: Buffer.from(credentials).toString('base64') },
  })
  await call('POST', '/apis/proxmoxbpg.crossplane.io/v1beta1/providerconfigs', {
    metadata: { name: connection, annotations: { 'croft.dev/fingerprint': fingerprint } },
    spec: {
      credentials: { source: 'Secret', secretRef: { name: connection, namespace: 'default', key: 'credentials' } },
    },
  })
  for (const vm of providerVms(Math.min(each, machines - place * each), ['fun-bedbug', 'pumped-piglet'])) {
    datacentre.addGuest(vm.vmid, vm.node, providerConfigOf(vm), true)
    const object = madeByCrossplane(vm)
    const name = `${connection}-${vm.vmid}`
    await call('POST', VMS, {
      ...object,
      metadata: { ...recordOf(object.metadata), name },
      spec: { ...recordOf(object.spec), providerConfigRef: { name: connection } },
    })
    await call('PATCH', `${VMS}/${name}/status`, { status: statusByCrossplane(vm) })
    vms.push({ name, vmid: vm.vmid, place })
  }
}
writeFileSync(kubeconfig, api.kubeconfig, { mode: 0o600 })
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)
print({ proxy: api.proxy.url })

let changes = 0
/** Every change is of another machine, on another connection. */
async function change(): Promise<number> {
  const vm = vms[(changes++ * (each + 1)) % vms.length]
  const guest = datacentres[vm?.place ?? 0]?.world.guests.get(vm?.vmid ?? 0)
  if (vm === undefined || guest === undefined) return Number.NaN
  const startMs = performance.now()
  await call('PATCH', `${VMS}/${vm.name}`, { spec: { forProvider: { onBoot: false } } })
  while (performance.now() - startMs < PATIENCE_MS) {
    if (guest.config.get('onboot') === '0') return performance.now() - startMs
    await api.clock.sleep(2)
  }
  return Number.NaN
}

const written: Record<string, number> = {}
api.onWrite((resource, name) => {
  // K3s itself renews Leases of its own.
  if (resource.endsWith('leases') && !name.startsWith('croft-')) return
  written[resource] = (written[resource] ?? 0) + 1
})

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line === 'change') void change().then((ms) => print({ ms }))
    else
      print({
        proxmoxWrites: datacentres.reduce((sum, { writes }) => sum + writes.length, 0),
        proxmoxCalls: datacentres.reduce((sum, one) => sum + one.stats().calls, 0),
        written,
      })
  })
  .on('close', () => process.exit(0))
