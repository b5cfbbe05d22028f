import { createHash } from 'node:crypto'
import type { Host } from '../../../world/types.ts'
import { type Call, hostOf, type Routes } from '../../call.ts'
import { splitList } from '../../validate/formats/format.ts'
import { ownCertificate } from './certificates.ts'

const ISSUER = '/CN=Proxmox Virtual Environment/OU=c0f7c0f7-0000-4000-8000-000000000001/O=PVE Cluster Manager CA'

/** What a host is made of and proves itself with. */
export const nodeHostRoutes: Routes = {
  'GET /nodes/{node}/subscription': () => ({
    status: 'notfound',
    message: 'There is no subscription key',
    url: 'https://www.proxmox.com/en/proxmox-virtual-environment/pricing',
  }),
  'GET /nodes/{node}/certificates': () => ['acme', 'custom', 'info'].map((name) => ({ name })),
  'GET /nodes/{node}/certificates/info': (call) => [
    authority(call),
    certificate(call, hostOf(call)),
    ...ownCertificate(call),
  ],
  'GET /nodes/{node}/hardware': () => ['pci', 'usb'].map((type) => ({ type })),
  'GET /nodes/{node}/hardware/pci': pciDevices,
  'GET /nodes/{node}/hardware/usb': (call) =>
    hostOf(call).usb.map(({ id, path }, index) => {
      const [vendid = '', prodid = ''] = id.split(':')
      return {
        vendid,
        prodid,
        busnum: Number(path.split('-')[0]),
        devnum: index + 1,
        port: Number(path.split('-')[1]),
        usbpath: path.split('-')[1],
        level: 1,
        class: 0,
        speed: '480',
      }
    }),
}

/** PCI classes that are left out by default: memory, bridges and processors. */
const LEFT_OUT = '05;06;0b'
const CLASS = '0x000000'

const hex = (id: string) => id.split(':').map((part) => `0x${part}`)

function pciDevices(call: Call): unknown[] {
  const left = splitList(call.params['pci-class-blacklist'] ?? LEFT_OUT)
  const verbose = call.params.verbose !== '0'
  return hostOf(call)
    .pci.filter((device) => !left.some((part) => (device.class ?? CLASS).startsWith(`0x${part}`)))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, id, subsystem, class: kind = CLASS }) => {
      const [vendor, device] = hex(id)
      const [subsystem_vendor, subsystem_device] = hex(subsystem ?? id)
      const more = verbose ? { subsystem_vendor, subsystem_device } : {}
      return { id: path, vendor, device, class: kind, iommugroup: -1, ...more }
    })
}

/** Signs the certificates of all hosts of the cluster. */
function authority(call: Call): Record<string, unknown> {
  const issuer = ISSUER
  const { notbefore } = certificate(call, hostOf(call))
  return {
    filename: 'pve-root-ca.pem',
    fingerprint: createHash('sha256')
      .update(issuer)
      .digest('hex')
      .toUpperCase()
      .replace(/(..)(?=.)/g, '$1:'),
    issuer,
    subject: issuer,
    san: [],
    notbefore,
    notafter: Number(notbefore) + 3650 * 86_400,
    'public-key-bits': 4096,
    'public-key-type': 'rsaEncryption',
  }
}

function certificate(call: Call, host: Host): Record<string, unknown> {
  const hex = createHash('sha256').update(host.name).digest('hex').toUpperCase()
  const now = Math.floor(call.world.clock.now() / 1000)
  return {
    filename: 'pve-ssl.pem',
    fingerprint: hex.replace(/(..)(?=.)/g, '$1:'),
    issuer: ISSUER,
    subject: `/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN=${host.name}`,
    san: ['127.0.0.1', '0000:0000:0000:0000:0000:0000:0000:0001', 'localhost', host.address, host.name],
    notbefore: now - 86_400,
    notafter: now + 700 * 86_400,
    'public-key-bits': 2048,
    'public-key-type': 'rsaEncryption',
  }
}
