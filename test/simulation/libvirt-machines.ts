import assert from 'node:assert/strict'
import { guestAddresses } from '../../sim/guest/addresses.ts'
import { type Domain, volumes } from '../../sim/libvirt/domains.ts'
import { uuidOf } from '../../src/drivers/libvirt/names.ts'
import { resourceUid } from '../../src/model/declaration.ts'
import type { Estate } from '../../src/model/estate.ts'
import type { LibvirtRun } from './libvirt-run.ts'
import { estateFrom } from './manifests.ts'

/* The two machines that the simulations of libvirt are about. */

export function valid(files: Record<string, string>): Estate {
  const estate = estateFrom(files)
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  return estate
}

/** One host with libvirt, a network, an image; `more` are manifests beside them. */
export const hostWith = (
  at: { readonly bridge: string; readonly pool: string; readonly subnet: string; readonly imageHosts?: string },
  more = '',
) => `apiVersion: croft.dev/v1alpha1
kind: Libvirt
metadata: {name: kvm}
spec: {host: kvm}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: kvm}
spec:
  local: true
  bindings: {networks: {lan: {bridge: ${at.bridge}}}, storages: {vms: ${at.pool}}}
---
${more}apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: lan, gateway: ${at.subnet}.1}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: lan}
spec: {cidr: ${at.subnet}.0/24}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: debian}
spec: {url: "https://example.org/debian.qcow2", storage: vms${at.imageHosts === undefined ? '' : `, hosts: [${at.imageHosts}]`}}
---
`
/** In the network and the pool that libvirt has from the beginning. */
export const WEB = hostWith({ bridge: 'default', pool: 'default', subnet: '192.168.122' })
export const machine = (name: string, address: string, more = '') => `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec:
  host: kvm
  cpu: {cores: 2}
  memory: 1Gi
  disks: [{size: 10Gi, image: debian, storage: vms}, {size: 5Gi, storage: vms}]
  networks: [{network: lan, address: ${address}}]
  user: ops
${more}---
`
/** One machine on its image, one as a copy of it; everything else they can be differs as well. */
export const TWO = valid({
  'web.yaml': `${WEB}${machine('web-1', '192.168.122.20')}${machine('web-2', '192.168.122.21', '  libvirt: {disks: copy, seed: cdrom, bios: ovmf}\n')}`,
})

/** Each of them has a disk with data, so a person names them. */
export const APPROVED = `apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: all-of-them}
spec: {reason: They are made again, maxDeletes: 10, deletes: [Machine/web-1, Machine/web-2], expires: "2099-01-01T00:00:00Z"}
---
`

/** What a person would see on the host. */
export function seen({ host }: LibvirtRun): unknown {
  const shown = ({ uuid, name, definition, guest, autostart }: Domain) => ({
    uuid,
    name,
    definition,
    autostart,
    status: guest.run.status,
    addresses: guestAddresses(guest),
    hostname: guest.machine?.system.hostname,
  })
  return {
    domains: [...host.domains.values()].map(shown).sort((a, b) => (a.name < b.name ? -1 : 1)),
    volumes: [...volumes(host, 'default').values()].map(({ name, sizeBytes }) => `${name} ${sizeBytes}`).sort(),
  }
}

export function asDeclared(run: LibvirtRun, hint: string): void {
  assert.equal(run.host.domains.size, 2, hint)
  for (const [name, address] of [
    ['web-1', '192.168.122.20'],
    ['web-2', '192.168.122.21'],
  ] as const) {
    const uid = resourceUid('default', `Machine/${name}`)
    const domain = run.host.domains.get(uuidOf(uid))
    assert.ok(domain, hint)
    assert.deepEqual(
      [domain.name, domain.guest.run.status, guestAddresses(domain.guest)],
      [name, 'running', [address]],
      hint,
    )
    assert.equal(domain.guest.inside?.runs, 1, hint)
    const names = [...volumes(run.host, 'default').keys()].filter((volume) => volume.includes(uid)).sort()
    assert.deepEqual(names, [`croft-${uid}-virtio0.qcow2`, `croft-${uid}-virtio1.qcow2`], hint)
  }
}
