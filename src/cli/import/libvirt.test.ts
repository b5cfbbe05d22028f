import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatacentre } from '../../../sim/datacentre.ts'
import { createLibvirtHost, libvirtShell, putImage } from '../../../sim/libvirt/shell.ts'
import { virsh } from '../../../sim/libvirt/virsh.ts'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { libvirtDriver } from '../../drivers/libvirt/driver.ts'
import { findKind, KINDS } from '../../kinds/registry.ts'
import { seededRandom } from '../../lib/random.ts'
import { Secret } from '../../model/secret.ts'
import { link } from '../../plan/link.ts'
import { readFiles } from '../../source/files/read-files.ts'
import { printDrafts } from '../../source/foreign/draft.ts'
import type { LoadedEstate } from '../runtime.ts'
import { draftGuests, findGuests, readDetails, stillDiffering } from './guests.ts'

const ESTATE = `apiVersion: croft.dev/v1alpha1
kind: Libvirt
metadata: {name: attic}
spec: {host: kvm1}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: kvm1}
spec: {local: true, bindings: {networks: {lan: {bridge: default}}, storages: {vms: default}}}
`

test('a domain that somebody made becomes a Machine whose plan is the adoption and nothing else', async () => {
  const clock = createVirtualClock(0)
  const random = seededRandom(1)
  const { world } = createDatacentre({ clock, random, preset: 'empty', hosts: ['kvm1'] })
  const host = createLibvirtHost(world, 'kvm1')
  putImage(host, 'default', 'old.qcow2', 12)
  putImage(host, 'default', 'odd.qcow2', 7)
  virsh(
    host,
    ['define', '/dev/stdin'],
    `<domain type='kvm'><name>Old_Server</name><uuid>11111111-2222-4333-8444-555555555555</uuid><description>by hand</description><memory unit='KiB'>2097152</memory><vcpu>3</vcpu><os><type arch='x86_64' machine='pc-i440fx-7.2'>hvm</type></os><devices><disk type='file' device='disk'><source file='/var/lib/libvirt/images/old.qcow2'/><target dev='sda' bus='scsi'/></disk><disk type='file' device='disk'><source file='/var/lib/libvirt/images/odd.qcow2'/><target dev='vda' bus='virtio'/></disk><disk type='file' device='cdrom'><target dev='sdb' bus='sata'/></disk><interface type='network'><source network='default'/><mac address='52:54:00:aa:bb:cc'/><model type='virtio'/></interface><hostdev mode='subsystem' type='pci'><source><address domain='0x0000' bus='0x01' slot='0x00' function='0x0'/></source></hostdev></devices></domain>`,
  )
  const read = readFiles({ files: [{ path: 'lab.yaml', bytes: Buffer.from(ESTATE) }], links: [] })
  const loaded: LoadedEstate = {
    declarations: read.declarations,
    estate: link(read, { findKind }),
    files: 1,
    ignored: 0,
  }
  assert.deepEqual(loaded.estate.problems, [])
  const deps = {
    clock,
    random,
    openWire: () => assert.fail('no wire'),
    openShell: () => libvirtShell(host),
    resolveSecret: () => Promise.resolve(new Secret('x')),
  }
  const signal = new AbortController().signal
  const { undeclared, declared } = await clock.runUntil(findGuests(loaded, [libvirtDriver], deps, signal, 'libvirt'))
  assert.equal(declared, 0)
  const close = await clock.runUntil(readDetails(undeclared, deps, signal))
  const drafts = await draftGuests(close, KINDS, loaded)
  const text = printDrafts(drafts.map(({ draft }) => draft))
  assert.deepEqual(stillDiffering(drafts, text, loaded), [])
  assert.match(text, /name: old-server/)
  assert.match(text, /uuid: 11111111-2222-4333-8444-555555555555/)
  assert.match(text, /storage: vms/)
  assert.match(text, /network: lan/)
  assert.match(text, /not managed by croft.*PCI device 0000:01:00.0/)
})
