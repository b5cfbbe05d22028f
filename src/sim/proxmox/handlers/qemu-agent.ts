import { guestName } from '../../world/guest-config.ts'
import { agentAnswers } from '../../world/guest-run.ts'
import { parseProperties } from '../../world/properties.ts'
import type { Guest } from '../../world/types.ts'
import { failed } from '../api-error.ts'
import { type Call, guestOf, type Routes } from '../call.ts'

const AT = '/nodes/{node}/qemu/{vmid}/agent'

export const qemuAgentRoutes: Routes = {
  [`POST ${AT}/ping`]: asked(() => ({})),
  [`GET ${AT}/info`]: asked(() => ({ version: '8.2.2', supported_commands: COMMANDS })),
  [`GET ${AT}/network-get-interfaces`]: asked(interfaces),
  [`GET ${AT}/get-osinfo`]: asked(() => OS_INFO),
  [`GET ${AT}/get-host-name`]: asked((guest) => ({ 'host-name': guest.inside?.hostname ?? guestName(guest) })),
  [`GET ${AT}/get-timezone`]: asked(() => ({ zone: 'UTC', offset: 0 })),
  [`GET ${AT}/get-time`]: asked((_, call) => call.world.clock.now() * 1_000_000),
  [`GET ${AT}/get-users`]: asked(() => []),
  [`GET ${AT}/get-vcpus`]: asked((guest) =>
    Array.from({ length: Number(guest.config.get('cores') ?? 1) }, (_, id) => ({
      'logical-id': id,
      online: true,
      'can-offline': id > 0,
    })),
  ),
  [`GET ${AT}/get-fsinfo`]: asked(() => []),
  [`POST ${AT}/exec`]: asked(notThere),
  [`GET ${AT}/exec-status`]: asked(notThere),
}

const COMMANDS = [
  'guest-ping',
  'guest-info',
  'guest-network-get-interfaces',
  'guest-get-osinfo',
  'guest-exec',
  'guest-shutdown',
].map((name) => ({ name, enabled: true, 'success-response': name !== 'guest-shutdown' }))

const OS_INFO = {
  id: 'ubuntu',
  name: 'Ubuntu',
  'pretty-name': 'Ubuntu 24.04.3 LTS',
  version: '24.04.3 LTS (Noble Numbat)',
  'version-id': '24.04',
  'kernel-release': '6.8.0-85-generic',
  'kernel-version': '#85-Ubuntu SMP PREEMPT_DYNAMIC',
  machine: 'x86_64',
}

function asked(answer: (guest: Guest, call: Call) => unknown): (call: Call) => { result: unknown } {
  return (call) => {
    const guest = guestOf(call)
    if (guest.run.status !== 'running') throw failed(`VM ${guest.vmid} is not running`)
    if (!agentAnswers(guest)) throw failed('QEMU guest agent is not running')
    return { result: answer(guest, call) }
  }
}

function notThere(): never {
  throw failed('the simulated agent runs no commands')
}

function interfaces(guest: Guest): unknown[] {
  const cards = [...guest.config].filter(([key]) => /^net\d+$/.test(key))
  return [
    face('lo', '00:00:00:00:00:00', [address('127.0.0.1', 8), address('::1', 128)]),
    ...cards.map(([key, value]) => {
      const number = Number(key.slice(3))
      const mac = /=((?:[0-9A-F]{2}:){5}[0-9A-F]{2})/i.exec(value)?.[1]?.toLowerCase() ?? ''
      return face(`eth${number}`, mac, [...addressesOf(guest, number, mac), address(linkLocal(mac), 64)])
    }),
  ]
}

function face(name: string, mac: string, addresses: unknown[]): Record<string, unknown> {
  const statistics = {
    'rx-bytes': 0,
    'rx-packets': 0,
    'rx-errs': 0,
    'rx-dropped': 0,
    'tx-bytes': 0,
    'tx-packets': 0,
    'tx-errs': 0,
    'tx-dropped': 0,
  }
  return { name, 'hardware-address': mac, 'ip-addresses': addresses, statistics }
}

function address(ip: string, prefix: number): Record<string, unknown> {
  return { 'ip-address': ip, 'ip-address-type': ip.includes(':') ? 'ipv6' : 'ipv4', prefix }
}

/** What its system was told about this card, by its hardware address; else what Proxmox or the site gives it. */
function addressesOf(guest: Guest, number: number, mac: string): unknown[] {
  const cards = guest.inside?.cards
  if (cards === undefined) return [address(...ipv4(guest, number))]
  const card = cards.get(mac)
  const fixed = (card?.addresses ?? []).map((text) => {
    const [ip = '', prefix = ''] = text.split('/')
    return address(ip, Number(prefix))
  })
  return card?.dhcp === true ? [address(...ipv4(guest, number)), ...fixed] : fixed
}

/** The address from cloud-init, or the one that the site's DHCP server keeps for this guest. */
function ipv4(guest: Guest, number: number): [string, number] {
  const given = parseProperties(guest.config.get(`ipconfig${number}`) ?? '').named.get('ip') ?? 'dhcp'
  const [ip, prefix] = given.split('/')
  if (ip !== undefined && prefix !== undefined) return [ip, Number(prefix)]
  return [`192.168.${4 + number + Math.floor(guest.vmid / 250)}.${2 + (guest.vmid % 250)}`, 24]
}

function linkLocal(mac: string): string {
  const bytes = mac.split(':').map((part) => Number.parseInt(part, 16))
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = bytes
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16)
  return `fe80::${hex(a ^ 2, b)}:${hex(c, 0xff)}:${hex(0xfe, d)}:${hex(e, f)}`
}
