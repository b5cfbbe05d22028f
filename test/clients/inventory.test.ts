import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startSimulator } from '../../sim/serve.ts'
import { clientsOrSkip, runClient } from './python.ts'

/** As much of ansible-inventory's answer as is looked at. */
interface Listed {
  readonly proxmox_all_qemu: { readonly hosts: readonly string[] }
  readonly proxmox_nodes: { readonly hosts: readonly string[] }
  readonly _meta: { readonly hostvars: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
}

test("community.proxmox's inventory plugin finds every guest with its facts and groups", async (context) => {
  const clients = await clientsOrSkip(context)
  if (clients === undefined) return
  const simulator = await startSimulator({ preset: 'homelab', port: 0, speed: 200, seed: 5, vms: 4 })
  const folder = mkdtempSync(join(tmpdir(), 'croft-inventory-'))
  try {
    const [id = '', secret = ''] = simulator.token.split('=')
    const [user, name] = id.split('!')
    const file = join(folder, 'site.proxmox.yml')
    writeFileSync(
      file,
      `plugin: community.proxmox.proxmox
url: ${simulator.endpoint}
user: ${user}
token_id: ${name}
token_secret: ${secret}
validate_certs: false
want_facts: true
want_proxmox_nodes_ansible_host: true
`,
    )
    const ran = await runClient(clients.bin('ansible-inventory'), ['-i', file, '--list'], {
      ANSIBLE_COLLECTIONS_PATH: clients.collections,
      ANSIBLE_HOME: folder,
      ANSIBLE_LOCAL_TEMP: folder,
      ANSIBLE_NOCOLOR: '1',
      PYTHONWARNINGS: 'ignore',
      REQUESTS_CA_BUNDLE: '',
      CURL_CA_BUNDLE: '',
      LC_ALL: 'C.UTF-8',
    })
    assert.equal(ran.code, 0, ran.output)
    const listed = JSON.parse(ran.output.slice(ran.output.indexOf('{'), ran.output.lastIndexOf('}') + 1)) as Listed
    const guests = [...simulator.datacentre.world.guests.values()].map(({ config }) => String(config.get('name')))
    assert.ok(guests.length > 0)
    assert.ok(listed.proxmox_all_qemu, ran.output)
    assert.deepEqual(listed.proxmox_all_qemu.hosts.toSorted(), guests.sort())
    assert.deepEqual(listed.proxmox_nodes.hosts.toSorted(), [...simulator.datacentre.world.hosts.keys()].sort())
    const facts = listed._meta.hostvars[guests[0] ?? ''] ?? {}
    assert.equal(typeof facts.proxmox_vmid, 'number')
    assert.equal(typeof facts.proxmox_net0, 'object')
    assert.match(JSON.stringify(facts.proxmox_status), /running|stopped/)
  } finally {
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
