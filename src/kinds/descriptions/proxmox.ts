import type { Descriptions } from './describe.ts'
import { secretAt } from './shared/secret.ts'

export const proxmox: Descriptions = {
  endpoint: 'HTTPS address of the API, like https://192.168.4.175:8006.',
  fingerprint: 'SHA-256 fingerprint of the certificate, AA:BB:…; without it the trust store of the system decides.',
  ...secretAt('token', 'API token in the form user@realm!name=secret.'),
  estate: 'Name of what this repository manages; set it only if two repositories share one Proxmox.',
  vmids: 'Range that croft chooses VMIDs from when a declaration names none.',
  'vmids.from': 'First VMID.',
  'vmids.to': 'Last VMID.',
  limits: 'How many operations croft runs at the same time.',
  'limits.perHost': 'Most concurrent changes on one host; croft uses fewer if the host cannot keep up.',
  'limits.perStorage': 'Most concurrent changes on one storage; croft uses fewer if the storage cannot keep up.',
  'limits.creations': 'Most guests that are made on one host at the same time; with more than 3 Proxmox may lose one.',
  'limits.reads': 'Most concurrent read requests.',
}
