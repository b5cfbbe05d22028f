import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { PlanEntry } from '../../src/model/plan.ts'
import { estateFrom } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const PAGES = new URL('../../docs/kinds/', import.meta.url)
const own = (kind: string, name: string, spec: string) =>
  `---\napiVersion: croft.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`
const CONNECTION = own('Proxmox', 'default', '{endpoint: "https://127.0.0.1:8006", token: {env: PROXMOX_TOKEN}}')

/** What a page takes for granted: it is about one thing, not about all that this thing names. */
const SURROUNDINGS = [
  own('ProxmoxPool', 'web', '{}'),
  own('ProxmoxGroup', 'ops', '{}'),
  own('ProxmoxFirewallIpSet', 'admins', '{entries: [{cidr: 192.168.4.0/24}]}'),
  own('ProxmoxSdnZone', 'lab', '{type: vlan, bridge: vmbr0}'),
  own('ProxmoxSdnVnet', 'apps', '{zone: lab, tag: 40}'),
  own('ProxmoxUser', 'ann', '{id: ann@pve}'),
  own('ProxmoxHaResource', 'vm-108', '{id: "vm:108", state: started}'),
  own('ProxmoxHaResource', 'vm-109', '{id: "vm:109", state: started}'),
]

/** Cannot be made here, for a reason that the page itself gives or that lies in the simulation. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'environment-acme-account.md': /no token may make/,
  'proxmox-acme-account.md': /no token may make/,
  // It needs a shell of root on the host, which this simulation has not: snippets.test.ts has one.
  'environment-file.md': /needs the SSH lane/,
  'environment-hagroup.md': /HA rules in place of HA groups/,
  'proxmox-ha-group.md': /HA rules in place of HA groups/,
  // Every secret of the simulation is the token, which is no private key.
  'environment-certificate.md': /not a valid PEM-formatted string/,
  'proxmox-certificate.md': /not a valid PEM-formatted string/,
}

const TEMPLATE = 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'

function furnish({ datacentre }: Simulation): void {
  const { world } = datacentre
  for (const vmid of [108, 109])
    if (!world.guests.has(vmid)) datacentre.addGuest(vmid, 'still-fawn', { name: `g${vmid}` })
  const host = world.hosts.get('still-fawn')
  host?.pci.push({ path: '0000:01:00.0', id: '10de:2484' })
  host?.usb.push({ path: '1-2', id: '1a6e:089a' })
  const local = host?.volumes.get('local') ?? new Map()
  local.set(TEMPLATE, { name: TEMPLATE, content: 'vztmpl', format: 'tzst', sizeBytes: 617, ctimeSeconds: 1 })
  host?.volumes.set('local', local)
}

/** Applied until it is settled: what is left to do. */
async function left(run: Simulation): Promise<readonly PlanEntry[]> {
  let entries: readonly PlanEntry[] = []
  await run.untilSettled(run.start(), { mostMs: 1_800_000, onPass: ({ plan }) => (entries = plan.entries) })
  return entries.filter(({ action }) => action.do !== 'nothing')
}

for (const file of readdirSync(PAGES).sort()) {
  const page = readFileSync(new URL(file, PAGES), 'utf8')
  const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []
  const connected = /^kind: Proxmox$/m.test(text)
  // What the page itself declares, in our words or the provider's, is not put beside it a second time.
  const around = SURROUNDINGS.filter((one) => {
    const kind = /kind: Proxmox(\w+)/.exec(one)?.[1] ?? ''
    // Without its zone there is no vnet either.
    if (kind === 'SdnVnet' && /^kind: ProxmoxSdnZone$/m.test(text)) return false
    return !new RegExp(`^kind: (?:Proxmox|Environment)${kind}$`, 'mi').test(text)
  })
  const before = estateFrom({ 'a.yaml': CONNECTION + around.join('') })
  const estate = estateFrom({ 'a.yaml': `${connected ? '' : CONNECTION}${around.join('')}---\n${text}` })
  // Hosts that are reached by SSH, libvirt and the nodes of a cluster are tried by the tests of their drivers.
  const ours = estate.resources.some(({ driver }) => driver === 'proxmox')
  const more = (estate.clusters ?? []).length + (estate.powers ?? []).length
  const others = estate.connections.some(({ driver }) => driver !== 'proxmox') || more > 0
  if (!ours || others) continue

  test(`the example of ${file} is applied in the simulation, and a second plan is empty`, async () => {
    const run = simulate({ seed: 9, estate: before })
    furnish(run)
    assert.deepEqual(
      (await left(run)).map(({ key }) => key),
      [],
    )
    run.estate = estate
    const open = await left(run)
    const why = REFUSED[file]
    const told = open.map(({ key, action }) => `${key} ${JSON.stringify(action).slice(0, 400)}`)
    if (why === undefined) assert.deepEqual(told, [])
    else assert.match(told.join('\n'), why)
  })
}
