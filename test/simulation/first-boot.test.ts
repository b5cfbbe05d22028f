import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machineOf } from '../../sim/guest/machine.ts'
import { readCloudInit } from '../../src/cloudinit/result.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import { machine, valid, WEB } from './libvirt-machines.ts'
import { simulateLibvirt } from './libvirt-run.ts'
import { estateFrom, IMAGE } from './manifests.ts'
import { simulate } from './run.ts'

const HOST = 'fun-bedbug'

function estateWith(annotation: string) {
  return estateFrom({
    'all.yaml': `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://127.0.0.1:8006", token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 399}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${HOST}}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local, files: local}}}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: lan, gateway: 192.168.4.1, dns: {servers: [192.168.4.1]}}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: lan}
spec: {cidr: 192.168.4.0/24}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec: {url: "https://cloud-images.ubuntu.com/noble/current/${IMAGE}", storage: files}
---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: web, annotations: {${annotation}}}
spec:
  host: ${HOST}
  cpu: {cores: 2}
  memory: 2Gi
  disks: [{size: 20Gi, image: noble, storage: fast}]
  networks: [{network: lan, address: 192.168.4.20}]
  user: ops
  agent: true
  userData: {packages: [nginx], write_files: [{path: /etc/x, content: y}]}
`,
  })
}

/** A machine whose disk is full when cloud-init writes to it, or not. */
async function firstBoot(annotation: string, full: boolean) {
  const estate = estateWith(annotation)
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  const run = simulate({ seed: 1, estate })
  const { engine } = run.start()
  const stop = new AbortController()
  const settled = engine.settle(estate, { signal: stop.signal, deadlineMs: 900_000 })
  await run.clock.runUntil(() => run.datacentre.world.guests.get(300)?.config.get('lock') === 'create', {
    maxMs: 600_000,
  })
  if (full) run.datacentre.setTrouble(300, { diskFull: true })
  const { last, outcome } = await run.clock.runUntil(settled, { maxMs: 1_800_000 })
  assert.equal(outcome, 'settled', 'whatever came of it, it has come to an end')
  const said = ({ records }: PassReport) => {
    const record = records.find(({ key }) => key === 'Machine/web')
    const ready = record?.conditions.find(({ type }) => type === 'Ready')
    return `${ready?.status} ${ready?.reason}: ${ready?.message}`
  }
  const first = said(last)
  // The agent is not asked in every pass: what it said stands until it says otherwise.
  for (let round = 0; round < 5; round++) {
    const pass = engine.pass(estate, stop.signal)
    assert.equal(said(await run.clock.runUntil(pass, { maxMs: 60_000 })), first)
    await run.clock.runUntil(run.clock.sleep(2000), { maxMs: 10_000 })
  }
  return first
}

test('[D-09] a machine is Ready when cloud-init has ended well', async () => {
  assert.match(await firstBoot('', false), /^True AgentUp/)
})

test('[D-09] a machine whose cloud-init failed is not Ready, and says why', async () => {
  assert.match(
    await firstBoot('', true),
    /^False CloudInitFailed: .*cloud-init failed: .*No space left on device.*cloudInit.onChange: rerun/,
  )
})

test('[D-09] with croft.dev/cloud-init: report it is Ready, and still says why', async () => {
  assert.match(
    await firstBoot('croft.dev/cloud-init: report', true),
    /^True CloudInitFailed: .*No space left on device/,
  )
})

for (const [what, annotation, full, expected] of [
  ['is Ready when cloud-init has ended well', '', false, /^True AgentUp/],
  ['is not Ready when cloud-init failed, and says why', '', true, /^False CloudInitFailed: .*No space left on device/],
  [
    'with croft.dev/cloud-init: report is Ready, and still says why',
    ', annotations: {croft.dev/cloud-init: report}',
    true,
    /^True CloudInitFailed: .*No space left on device/,
  ],
] as const)
  test(`[D-09] a machine on libvirt ${what}`, async () => {
    const web = machine(
      'web',
      '192.168.122.20',
      '  agent: true\n  userData: {write_files: [{path: /etc/x, content: y}]}\n',
    )
    const run = simulateLibvirt(
      1,
      valid({ 'web.yaml': `${WEB}${web.replace('{name: web}', `{name: web${annotation}}`)}` }),
      'kvm',
    )
    run.deadlineMs = 300_000
    let ready = ''
    await run.settle(undefined, ({ records }) => {
      const domain = [...run.host.domains.values()][0]
      if (full && domain !== undefined) machineOf(run.datacentre.world, domain.guest).trouble.diskFull = true
      const found = records.find(({ key }) => key === 'Machine/web')?.conditions.find(({ type }) => type === 'Ready')
      if (found !== undefined) ready = `${found.status} ${found.reason}: ${found.message}`
    })
    assert.match(ready, expected)
  })

test('[D-09] what cloud-init writes at its end is read, and nothing else is believed', () => {
  const table: readonly (readonly [string, unknown])[] = [
    ['{"v1": {"datasource": "DataSourceNoCloud", "errors": []}}', { state: 'done' }],
    ['{"v1": {"errors": ["a"]}}', { state: 'error', message: 'a' }],
    ['{"v1": {"errors": ["a\\u001b[31m", "b", "c"]}}', { state: 'error', message: 'a (and 2 more)' }],
    ['{"v1": {}}', undefined],
    ['{"v1": {"errors": "none"}}', undefined],
    ['', undefined],
    ['[]', undefined],
  ]
  for (const [text, expected] of table) assert.deepEqual(readCloudInit(text), expected, text)
})
