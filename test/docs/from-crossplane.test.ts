import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatacentre } from '../../sim/datacentre.ts'
import { createScaledClock } from '../../sim/scaled-clock.ts'
import { serveDatacentre } from '../../sim/serve.ts'
import { serveApi } from '../../sim/testing/served-api.ts'
import { at, type Foreign } from '../../src/kubernetes/objects.ts'
import { seededRandom } from '../../src/lib/random.ts'
import {
  madeByCrossplane,
  PROVIDER_KINDS,
  providerConfigOf,
  providerVms,
  statusByCrossplane,
} from '../../src/operator/testing/made-by-crossplane.ts'

const ROOT = join(import.meta.dirname, '../..')
const VMS = '/apis/virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1/environmentvms'
const PACKAGES = '/apis/pkg.crossplane.io/v1'
const lacking = ['/usr/bin/kubectl', '/usr/bin/openssl'].filter((program) => !existsSync(program))
const skip = lacking.length === 0 || process.env.CI !== undefined ? false : `${lacking.join(' and ')} is missing`

/** As the definitions of the provider have them. */
const column = (name: string, type: string, jsonPath: string) => ({ name, type, jsonPath })
const COLUMNS = [
  column('SYNCED', 'string', ".status.conditions[?(@.type=='Synced')].status"),
  column('READY', 'string', ".status.conditions[?(@.type=='Ready')].status"),
  column('EXTERNAL-NAME', 'string', '.metadata.annotations.crossplane\\.io/external-name'),
  column('AGE', 'date', '.metadata.creationTimestamp'),
]
const PACKAGE_KINDS = [
  ['pkg.crossplane.io', 'v1', 'providers', 'Provider', 'Cluster'],
  ['pkg.crossplane.io', 'v1', 'providerrevisions', 'ProviderRevision', 'Cluster'],
] as const

/** Returns the blocks of the page as a script; a command for a second terminal runs until it is stopped. */
function scriptOf(page: string): string {
  const blocks = [...page.matchAll(/^```sh(| terminal)\n([\s\S]*?)^```$/gm)].map(([, where, text = '']) => {
    if (where !== '') return `setsid ${text.trim()} > croft.log 2>&1 &\ncroft=$!\n`
    // A reader sees it come; here the test tells when it has.
    if (text.includes('kubectl get events')) return `until [ -e told ]; do sleep 0.2; done\n${text}`
    if (text.includes('patch environmentvm')) return `${text}until [ -e changed ]; do sleep 0.2; done\n`
    if (text.includes('delete namespace')) return `kill -TERM "$croft"; wait "$croft"\necho stopped\n${text}`
    return text
  })
  return `set -e\ntrap 'kill -TERM "$croft" 2> /dev/null || true' EXIT\n${blocks.join('\n')}`
}

test('[J-18] a reader who types what "From Crossplane to croft" says changes the controller of 50 VMs without a write', {
  skip,
}, async () => {
  const room = mkdtempSync(join(tmpdir(), 'croft-from-crossplane-'))
  const api = await serveApi(createScaledClock(20))
  const datacentre = createDatacentre({ clock: api.clock, random: seededRandom(3), preset: 'homelab' })
  const proxmox = await serveDatacentre(datacentre, { port: 0 })
  const call = async (method: string, path: string, body?: unknown): Promise<Foreign> => {
    const answer = await api.wire.send({
      method,
      path,
      headers: { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`)
    return JSON.parse(answer.body) as Foreign
  }
  try {
    for (const [group, version, plural, kind, scope] of [...PROVIDER_KINDS, ...PACKAGE_KINDS])
      await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          scope,
          names: { plural, kind, singular: kind.toLowerCase() },
          versions: [
            {
              name: version,
              served: true,
              storage: true,
              subresources: { status: {} },
              ...(kind === 'EnvironmentVM' ? { additionalPrinterColumns: COLUMNS } : {}),
            },
          ],
        },
      })
    await api.clock.sleep(5_000)
    const vms = providerVms(50, ['fun-bedbug', 'pumped-piglet', 'still-fawn'])
    const credentials = JSON.stringify({ endpoint: `${proxmox.endpoint}/`, api_token: proxmox.token, insecure: true })
    await call('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 'proxmox' },
      data: { credentials: Buffer.from(credentials).toString('base64') },
    })
    await call('POST', '/apis/proxmoxbpg.crossplane.io/v1beta1/providerconfigs', {
      metadata: { name: 'default' },
      spec: {
        credentials: { source: 'Secret', secretRef: { name: 'proxmox', namespace: 'default', key: 'credentials' } },
      },
    })
    await call('POST', `${PACKAGES}/providers`, {
      metadata: { name: 'provider-proxmox-bpg' },
      spec: { revisionActivationPolicy: 'Automatic' },
      status: { currentRevision: 'bpg-1' },
    })
    await call('PATCH', `${PACKAGES}/providers/provider-proxmox-bpg/status`, { status: { currentRevision: 'bpg-1' } })
    await call('POST', `${PACKAGES}/providerrevisions`, {
      metadata: { name: 'bpg-1' },
      spec: { desiredState: 'Active' },
    })
    for (const vm of vms) {
      datacentre.addGuest(vm.vmid, vm.node, providerConfigOf(vm), true)
      await call('POST', VMS, madeByCrossplane(vm))
      await call('PATCH', `${VMS}/${vm.name}/status`, { status: statusByCrossplane(vm) })
    }
    const before = await call('GET', VMS)
    for (const folder of ['bin', '.kube']) mkdirSync(join(room, folder))
    symlinkSync(process.env.CROFT_TEST_BUILT ?? join(ROOT, 'bin/croft'), join(room, 'bin/croft'))
    writeFileSync(join(room, '.kube/config'), api.kubeconfig, { mode: 0o600 })
    writeFileSync(join(room, 'reader.sh'), scriptOf(readFileSync(join(ROOT, 'docs/from-crossplane.md'), 'utf8')))
    const env = {
      PATH: `${room}/bin:${process.env.PATH ?? ''}`,
      HOME: room,
      HTTPS_PROXY: api.proxy.url,
      PROXMOX: proxmox.endpoint.replace('https://', ''),
    }
    const reader = spawn('bash', ['reader.sh'], { cwd: room, env })
    let [output, ended] = ['', false]
    for (const stream of [reader.stdout, reader.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    const over = new Promise<number | null>((resolve) => reader.once('close', resolve)).finally(() => {
      ended = true
    })
    const until = async (holds: () => Promise<boolean> | boolean) => {
      while (!ended && !(await holds())) await new Promise((resolve) => setTimeout(resolve, 200))
    }
    const log = () => (existsSync(join(room, 'croft.log')) ? readFileSync(join(room, 'croft.log'), 'utf8') : '')
    const told = async () => {
      const { items } = await call('GET', '/api/v1/namespaces/default/events')
      const names = (Array.isArray(items) ? items : []).map((item: unknown) => at(item, 'involvedObject', 'name'))
      return vms.every(({ name }) => names.includes(name))
    }
    await until(told)
    assert.deepEqual(datacentre.writes, [], 'not one write to Proxmox')
    const { items: now } = await call('GET', VMS)
    assert.deepEqual(now, before.items, 'nor to an object, to its resourceVersion')
    writeFileSync(join(room, 'told'), '')
    await until(() => datacentre.world.guests.get(2001)?.config.get('onboot') === '0')
    writeFileSync(join(room, 'changed'), '')
    assert.equal(await over, 0, `${output}\n${log()}`)
    assert.equal(datacentre.writes.length, 1, 'one for the change that was asked for')
    assert.match(output, /NAME +SYNCED +READY +EXTERNAL-NAME +AGE/)
    assert.equal(output.match(/^node-(\d+) +True +True +\1 /gm)?.length, 100, 'fifty rows before, fifty after')
    assert.match(output, /Normal +Ready .* VM 2001 on fun-bedbug is running/)
    assert.match(output, /^stopped$/m)
    const revision = await call('GET', `${PACKAGES}/providerrevisions/bpg-1`)
    assert.equal(at(revision, 'spec', 'desiredState'), 'Active', 'and back again')
  } finally {
    await proxmox.close()
    await api.close()
    rmSync(room, { recursive: true, force: true })
  }
})
