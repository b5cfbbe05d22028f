import { cardAddresses } from '../guest/addresses.ts'
import { programStatus, startProgram } from '../guest/exec.ts'
import { machineOf } from '../guest/machine.ts'
import { agentAnswers } from '../world/guest-run.ts'
import type { Guest, World } from '../world/types.ts'

type Args = Readonly<Record<string, unknown>>

/** Returns the answer of a guest's agent on its channel. Undefined: no agent runs. */
export function agentAnswer(world: World, guest: Guest, text: string): { readonly return: unknown } | undefined {
  if (!agentAnswers(guest)) return undefined
  const { execute, arguments: args = {} } = JSON.parse(text) as { execute: string; arguments?: Args }
  const answer = ANSWERS[execute]?.(world, guest, args)
  return answer === undefined ? undefined : { return: answer }
}

const ANSWERS: Readonly<Record<string, (world: World, guest: Guest, args: Args) => unknown>> = {
  'guest-ping': () => ({}),
  'guest-network-get-interfaces': (world, guest) => interfaces(world, guest),
  'guest-exec': (world, guest, args) => {
    const argv = [String(args.path), ...((args.arg ?? []) as readonly string[])]
    const input = args['input-data'] === undefined ? undefined : decoded(args['input-data'])
    const pid = startProgram(world, guest, argv, input)
    return pid === undefined ? undefined : { pid }
  },
  'guest-exec-status': (world, guest, { pid }) => {
    const status = programStatus(world, guest, Number(pid))
    if (status === undefined) return undefined
    const coded = (name: 'out-data' | 'err-data') =>
      typeof status[name] === 'string' ? { [name]: Buffer.from(status[name]).toString('base64') } : {}
    return { ...status, exited: status.exited === 1, ...coded('out-data'), ...coded('err-data') }
  },
  'guest-file-open': (world, guest, { path, mode }) => {
    const { files } = machineOf(world, guest)
    const name = String(path)
    if (mode !== 'r' && files.read(name) === undefined) files.write(name, '')
    if (files.read(name) === undefined) return undefined
    const open = handles.get(guest) ?? new Map<number, Handle>()
    handles.set(guest, open)
    const handle = open.size + 1000
    open.set(handle, { path: name, at: 0 })
    return handle
  },
  'guest-file-read': (world, guest, { handle, count }) => {
    const open = handles.get(guest)?.get(Number(handle))
    const bytes = open === undefined ? undefined : machineOf(world, guest).files.read(open.path)
    if (open === undefined || bytes === undefined) return undefined
    const part = Buffer.from(bytes.slice(open.at, open.at + Number(count)))
    open.at += part.length
    return { count: part.length, 'buf-b64': part.toString('base64'), eof: open.at >= bytes.length }
  },
  'guest-file-write': (world, guest, args) => {
    const open = handles.get(guest)?.get(Number(args.handle))
    if (open === undefined) return undefined
    const { files } = machineOf(world, guest)
    const part = Buffer.from(String(args['buf-b64']), 'base64')
    files.write(open.path, Buffer.concat([Buffer.from(files.read(open.path) ?? []).subarray(0, open.at), part]))
    open.at += part.length
    return { count: part.length, eof: false }
  },
  'guest-file-close': () => ({}),
}

interface Handle {
  readonly path: string
  at: number
}

const handles = new WeakMap<Guest, Map<number, Handle>>()

function interfaces(world: World, guest: Guest): unknown[] {
  const added = machineOf(world, guest).addresses
  return [...guest.config]
    .filter(([key]) => /^net\d+$/.test(key))
    .map(([key, value]) => {
      const number = Number(key.slice(3))
      const mac = /=((?:[0-9A-F]{2}:){5}[0-9A-F]{2})/i.exec(value)?.[1]?.toLowerCase() ?? ''
      const byHand = (added.get(`eth${number}`) ?? []).map((text): [string, number] => [text.replace(/\/.*/, ''), 24])
      return {
        name: `enp${number + 1}s0`,
        'hardware-address': mac,
        'ip-addresses': [...cardAddresses(guest, number, mac), ...byHand].map(([address, prefix]) => ({
          'ip-address': address,
          'ip-address-type': address.includes(':') ? 'ipv6' : 'ipv4',
          prefix,
        })),
      }
    })
}

function decoded(value: unknown): string {
  return Buffer.from(String(value), 'base64').toString('utf8')
}
