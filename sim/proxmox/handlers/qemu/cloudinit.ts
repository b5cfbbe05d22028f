import { createHash } from 'node:crypto'
import { driveKeys, driveVolume } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest } from '../../../world/types.ts'
import { findVolume } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, guestOf, hostOf, type Routes } from '../../call.ts'

const AT = '/nodes/{node}/qemu/{vmid}/cloudinit'

export const qemuCloudInitRoutes: Routes = {
  [`GET ${AT}`]: settings,
  [`PUT ${AT}`]: regenerate,
  [`GET ${AT}/dump`]: dump,
}

const KEYS = /^(ci(user|password|custom|type)|sshkeys|nameserver|searchdomain)$/

/** What is on the drive, and what would be on it if it were made anew. Cards are listed only where they differ. */
function settings(call: Call): unknown[] {
  const guest = guestOf(call)
  // A guest that is off gets a fresh drive when it starts: nothing waits.
  const written = guest.run.status === 'running' ? (guest.seed ?? guest.config) : guest.config
  const rows: Record<string, unknown>[] = []
  for (const key of new Set([...written.keys(), ...guest.config.keys()])) {
    const always = KEYS.test(key)
    if (!always && !/^(net|ipconfig)\d+$/.test(key)) continue
    const [before, now] = [written.get(key), guest.config.get(key)].map((value) =>
      value !== undefined && key === 'cipassword' ? '**********' : value,
    )
    if (before === now && !always) continue
    const row: Record<string, unknown> = { key }
    if (before !== undefined) row.value = before
    if (now !== undefined && now !== before) row.pending = now
    if (now === undefined) row.delete = 1
    rows.push(row)
  }
  return rows
}

function regenerate(call: Call): null {
  const guest = guestOf(call)
  const host = hostOf(call)
  if (!hasDrive(guest)) return null
  for (const volid of parseProperties(guest.config.get('cicustom') ?? '').named.values()) {
    if (findVolume(host, volid) === undefined) throw failed(`volume '${volid}' does not exist`)
  }
  guest.seed = new Map(guest.config)
  return null
}

function hasDrive(guest: Guest): boolean {
  return driveKeys(guest.config).some((key) => /cloudinit/.test(driveVolume(guest.config.get(key) ?? '')))
}

function dump(call: Call): string {
  const guest = guestOf(call)
  if (call.params.type === 'user') return userData(guest)
  if (call.params.type === 'network') return networkData(guest)
  return `instance-id: ${createHash('sha1')
    .update(userData(guest) + networkData(guest))
    .digest('hex')}\n`
}

function userData(guest: Guest): string {
  const { config } = guest
  const name = config.get('name') ?? `VM${guest.vmid}`
  const domain = config.get('searchdomain')
  const lines = ['#cloud-config', `hostname: ${name}`, 'manage_etc_hosts: true']
  lines.push(`fqdn: ${name}${domain === undefined ? '' : `.${domain}`}`)
  if (config.has('ciuser')) lines.push(`user: ${config.get('ciuser')}`)
  if (config.has('cipassword')) lines.push(`password: ${config.get('cipassword')}`)
  const keys = decodeURIComponent(config.get('sshkeys') ?? '')
    .split('\n')
    .filter((line) => line !== '')
  if (keys.length > 0) lines.push('ssh_authorized_keys:', ...keys.map((key) => `  - ${key}`))
  lines.push('chpasswd:', '  expire: False', 'users:', '  - default')
  if (config.get('ciupgrade') !== '0') lines.push('package_upgrade: true')
  return `${lines.join('\n')}\n`
}

function networkData(guest: Guest): string {
  const lines = ['version: 1', 'config:']
  for (const [key, value] of guest.config) {
    if (!/^net\d+$/.test(key)) continue
    const number = key.slice(3)
    const ip = parseProperties(guest.config.get(`ipconfig${number}`) ?? '').named
    const mac = /=((?:[0-9A-F]{2}:){5}[0-9A-F]{2})/i.exec(value)?.[1]?.toLowerCase() ?? ''
    lines.push('    - type: physical', `      name: eth${number}`, `      mac_address: '${mac}'`, '      subnets:')
    lines.push(...subnet4(ip.get('ip'), ip.get('gw')), ...subnet6(ip.get('ip6'), ip.get('gw6')))
  }
  const words = (key: string) => (guest.config.get(key) ?? '').split(/[\s,;]+/).filter((word) => word !== '')
  const [servers, search] = [words('nameserver'), words('searchdomain')]
  if (servers.length + search.length > 0) lines.push('    - type: nameserver')
  if (servers.length > 0) lines.push('      address:', ...servers.map((word) => `      - '${word}'`))
  if (search.length > 0) lines.push('      search:', ...search.map((word) => `      - '${word}'`))
  return `${lines.join('\n')}\n`
}

function subnet4(address: string | undefined, gateway: string | undefined): readonly string[] {
  if (address === undefined) return []
  if (address === 'dhcp') return ['      - type: dhcp4']
  const [ip = '', length = '32'] = address.split('/')
  const bits = Number(length)
  const mask = [0, 8, 16, 24].map((from) => 256 - 2 ** (8 - Math.min(8, Math.max(0, bits - from))))
  const lines = ['      - type: static', `        address: '${ip}'`, `        netmask: '${mask.join('.')}'`]
  return gateway === undefined ? lines : [...lines, `        gateway: '${gateway}'`]
}

function subnet6(address: string | undefined, gateway: string | undefined): readonly string[] {
  if (address === undefined) return []
  if (address === 'dhcp') return ['      - type: dhcp6']
  if (address === 'auto') return ['      - type: ipv6_slaac']
  const lines = ['      - type: static6', `        address: '${address}'`]
  return gateway === undefined ? lines : [...lines, `        gateway: '${gateway}'`]
}
