import { isUtf8 } from 'node:buffer'
import { cardAddresses } from '../../../guest/addresses.ts'
import { programStatus, startProgram } from '../../../guest/exec.ts'
import { isBare, machineOf } from '../../../guest/machine.ts'
import { between } from '../../../world/chance.ts'
import { agentAnswers, powerOff } from '../../../world/guest-run.ts'
import type { Guest } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, guestOf, param, type Routes } from '../../call.ts'
import { PlainRefusal } from '../../decode.ts'
import { readFile, writeFile } from './agent-files.ts'

const AT = '/nodes/{node}/qemu/{vmid}/agent'

type Question = (guest: Guest, call: Call) => unknown

/** Agent commands that a client reads with GET. The answer is under `result`. */
const READS: Readonly<Record<string, Question>> = {
  'network-get-interfaces': interfaces,
  'get-osinfo': (guest) => (isBare(guest) ? BARE_INFO : OS_INFO),
  'get-host-name': (guest, call) => ({ 'host-name': machineOf(call.world, guest).system.hostname }),
}

/** Agent commands that a client sends with POST. */
const DEEDS: Readonly<Record<string, Question>> = {
  ping: () => ({}),
  shutdown: (guest, call) => {
    const { life } = guest.run
    const { world } = call
    world.clock.schedule(world.clock.now() + between(world.random, world.timing.shutdownMs), () => {
      if (guest.run.life === life) powerOff(world, guest, true)
    })
    return null
  },
}

export const qemuAgentRoutes: Routes = {
  ...Object.fromEntries(Object.entries(READS).map(([name, answer]) => [`GET ${AT}/${name}`, result(answer)])),
  ...Object.fromEntries(Object.entries(DEEDS).map(([name, answer]) => [`POST ${AT}/${name}`, result(answer)])),
  [`POST ${AT}/exec`]: asked(exec),
  [`GET ${AT}/exec-status`]: asked((guest, call) => {
    const status = programStatus(call.world, guest, Number(param(call, 'pid')))
    if (status === undefined) throw failed("Agent error: Invalid parameter 'pid'")
    return status
  }),
  [`GET ${AT}/file-read`]: asked(readFile),
  [`POST ${AT}/file-write`]: asked(writeFile),
}

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

/** Without /etc/os-release only the kernel can be asked. */
const BARE_INFO = {
  'kernel-release': '6.1.0-54-cloud-amd64',
  'kernel-version': '#1 SMP PREEMPT_DYNAMIC Debian 6.1.190-1 (2026-10-16)',
  machine: 'x86_64',
}

function asked(answer: Question): (call: Call) => unknown {
  return (call) => {
    const guest = guestOf(call)
    if (!guest.config.has('agent')) throw failed('No QEMU guest agent configured')
    if (guest.run.status !== 'running') throw failed(`VM ${guest.vmid} is not running`)
    if (!agentAnswers(guest)) throw failed('QEMU guest agent is not running')
    return answer(guest, call)
  }
}

function result(answer: Question): (call: Call) => unknown {
  return asked((guest, call) => ({ result: answer(guest, call) }))
}

/** A program that is not there makes the daemon itself fall over its message. */
function exec(guest: Guest, call: Call): { pid: number } {
  const raw = call.raw.command
  const argv = Array.isArray(raw) ? raw.map(String) : [param(call, 'command')]
  // Letters beyond ASCII are lost on the way: the agent waits for the rest of the message and hears nothing more.
  if (argv.some((arg) => /[^\x00-\x7f]/.test(arg))) {
    guest.run.deaf = true
    throw failed(`VM ${guest.vmid} qga command 'guest-exec' failed - got timeout`)
  }
  const pid = startProgram(call.world, guest, argv, inputOf(call.params['input-data']))
  if (pid === undefined) throw new PlainRefusal(596, 'Broken pipe', '')
  return { pid }
}

/** Each character encodes one byte, and the program reads the bytes. */
function inputOf(characters: string | undefined): string | undefined {
  const bytes = Buffer.from(characters ?? '', 'latin1')
  return characters !== undefined && isUtf8(bytes) ? bytes.toString('utf8') : characters
}

function interfaces(guest: Guest, call: Call): unknown[] {
  const added = machineOf(call.world, guest).addresses
  const cards = [...guest.config].filter(([key]) => /^net\d+$/.test(key))
  return [
    face('lo', '00:00:00:00:00:00', [address('127.0.0.1', 8), address('::1', 128)]),
    ...cards.map(([key, value]) => {
      const number = Number(key.slice(3))
      const mac = /=((?:[0-9A-F]{2}:){5}[0-9A-F]{2})/i.exec(value)?.[1]?.toLowerCase() ?? ''
      const byHand = (added.get(`eth${number}`) ?? []).map((text) =>
        address(text.replace(/\/.*/, ''), Number(text.split('/')[1])),
      )
      return face(`eth${number}`, mac, [...addressesOf(guest, number, mac), ...byHand, address(linkLocal(mac), 64)])
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
  return cardAddresses(guest, number, mac).map(([ip, prefix]) => address(ip, prefix))
}

function linkLocal(mac: string): string {
  const bytes = mac.split(':').map((part) => Number.parseInt(part, 16))
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = bytes
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16)
  return `fe80::${hex(a ^ 2, b)}:${hex(c, 0xff)}:${hex(0xfe, d)}:${hex(e, f)}`
}
