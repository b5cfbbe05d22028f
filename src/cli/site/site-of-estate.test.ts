import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../../kinds/registry.ts'
import { link } from '../../plan/link.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { partsOfSite } from './render-site.ts'
import { siteOfEstate } from './site-of-estate.ts'

const PROXMOX = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: https://192.168.4.175:8006, token: {env: T}}
`

/** Returns the parts of these manifests' site, one line each: `host pve1 <- a.yaml:1`. */
function madeOf(manifests: string): readonly string[] {
  const revision = readTexts({ 'proxmox.yaml': PROXMOX, 'a.yaml': manifests })
  const estate = link(revision, { findKind })
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  const parts = partsOfSite(siteOfEstate(estate, revision.declarations, 'default'), (file) => file)
  return parts.map(({ what, name, from }) => `${what} ${name} <- ${from ?? 'installed'}`)
}

const croft = (kind: string, name: string, spec: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`
const vm = (
  name: string,
  fields: string,
  annotations = '{}',
) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}, annotations: ${annotations}}
spec:
  providerConfigRef: {name: default}
  forProvider: ${fields}
`
const LOCAL = 'storage local (dir) <- installed'

const cases: readonly { says: string; manifests: readonly string[]; made: readonly string[] }[] = [
  {
    says: 'a Host brings what its bindings name',
    manifests: [
      croft('Host', 'one', '{node: pve1, bindings: {networks: {lan: {bridge: vmbr2}}, storages: {fast: tank-zfs}}}'),
    ],
    made: [
      'host pve1 <- a.yaml:1',
      'bridge pve1/vmbr0 <- installed',
      'bridge pve1/vmbr2 <- a.yaml:1',
      LOCAL,
      'storage tank-zfs (zfspool, 500 GiB, on pve1) <- a.yaml:1',
    ],
  },
  {
    says: 'a VM brings its host, bridge, storages, image and pool, and its own number stays free',
    manifests: [
      vm(
        'web-1',
        `
    nodeName: pve1
    vmId: 120
    poolId: web
    disk: [{interface: scsi0, datastoreId: local-lvm, size: 400, importFrom: "files:import/noble.qcow2"}]
    networkDevice: [{bridge: vmbr7}]`,
      ),
    ],
    made: [
      'host pve1 <- a.yaml:1',
      'bridge pve1/vmbr0 <- installed',
      'bridge pve1/vmbr7 <- a.yaml:1',
      LOCAL,
      'storage local-lvm (lvmthin, 800 GiB, on pve1) <- a.yaml:1',
      'storage files (dir, 500 GiB, on pve1) <- a.yaml:1',
      'pool web <- a.yaml:1',
      'file pve1/files:import/noble.qcow2 <- a.yaml:1',
    ],
  },
  {
    says: 'what the manifests make themselves is not there before',
    manifests: [
      vm(
        'web-1',
        `
    nodeName: pve1
    poolId: web
    disk: [{interface: scsi0, datastoreId: tank, size: 8}]
    networkDevice: [{bridge: vmbr0}, {bridge: vmbr1}]`,
      ),
      croft('ProxmoxPool', 'web', '{}'),
      croft('ProxmoxStorage', 'tank', '{type: dir, path: /tank, content: [images]}'),
      croft('ProxmoxBridge', 'vmbr0', '{host: pve1, ports: [eno2]}'),
    ],
    made: ['host pve1 <- a.yaml:1', 'bridge pve1/vmbr1 <- a.yaml:1', 'card pve1/eno2 <- a.yaml:22', LOCAL],
  },
  {
    says: 'a VM that is taken over is there, and so is the template of a clone; a template that is declared is not',
    manifests: [
      vm(
        'old',
        '{nodeName: pve1, name: old, vmId: 108, disk: [{interface: scsi0, datastoreId: local, size: 8}]}',
        '{crossplane.io/external-name: "108"}',
      ),
      vm('copy', '{nodeName: pve1, vmId: 121, clone: [{vmId: 9000, nodeName: pve2}]}'),
      vm('golden', '{nodeName: pve1, vmId: 9001, template: true}'),
      vm('copy-2', '{nodeName: pve1, vmId: 122, clone: [{vmId: 9001}]}'),
    ],
    made: [
      'host pve1 <- a.yaml:1',
      'bridge pve1/vmbr0 <- installed',
      'host pve2 <- a.yaml:8',
      'bridge pve2/vmbr0 <- installed',
      'storage local (dir, 500 GiB) <- a.yaml:1',
      'VM pve1/108 old <- a.yaml:1',
      'template pve2/9000 template-9000 <- a.yaml:8',
    ],
  },
  {
    says: 'settings bring the guest that they name, the storage of a backup, the slot of a device',
    manifests: [
      croft('ProxmoxGuestFirewall', 'web', '{host: pve1, vmid: 108, enabled: true}'),
      croft('ProxmoxBackupJob', 'nightly', '{schedule: "02:30", storage: vault, all: true}'),
      croft('Host', 'pve2', '{connection: default}'),
      croft('Device', 'gpu', '{host: pve2, pci: {id: "10de:2484", address: "0000:01:00"}}'),
    ],
    made: [
      'host pve2 <- a.yaml:11',
      'bridge pve2/vmbr0 <- installed',
      'PCI device pve2/0000:01:00 (10de:2484) <- a.yaml:16',
      'host pve1 <- a.yaml:1',
      'bridge pve1/vmbr0 <- installed',
      LOCAL,
      'storage vault (dir, 500 GiB) <- a.yaml:6',
      'VM pve1/108 guest-108 <- a.yaml:1',
    ],
  },
]

for (const { says, manifests, made } of cases)
  test(says, () => {
    assert.deepEqual(madeOf(manifests.join('---\n')), made)
  })
