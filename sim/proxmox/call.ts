import type { Identity } from '../world/access.ts'
import type { Guest, Host, World } from '../world/types.ts'
import { failed } from './api-error.ts'

/** One request after the wire form is off, the sender is known and the parameters are checked. */
export interface Call {
  readonly world: World
  readonly who: Identity
  readonly method: string
  readonly path: string
  /** Parameters of path, query and body as text: that is all that Proxmox keeps of them. */
  readonly params: Readonly<Record<string, string>>
  /** As they came, for the few that are lists. */
  readonly raw: Readonly<Record<string, unknown>>
  /** An uploaded file. */
  readonly file?: { readonly name: string; readonly bytes: Uint8Array }
  /** Another call by the same sender, judged like one that came by itself. */
  perform(method: string, path: string, params: Readonly<Record<string, unknown>>): unknown
}

/** Answers the `data` of the response, at once or later. Throws an ApiError to refuse. */
export type Handler = (call: Call) => unknown

/** Routes by method and path template, as the API schema writes it: `GET /nodes/{node}/qemu`. */
export type Routes = Readonly<Record<string, Handler>>

/** An answer with keys beside `data`: `total` of a log, `changes` of the network. */
export class Answer {
  readonly data: unknown
  readonly envelope: Readonly<Record<string, unknown>>
  constructor(data: unknown, envelope: Readonly<Record<string, unknown>>) {
    this.data = data
    this.envelope = envelope
  }
}

export function param(call: Call, name: string): string {
  return call.params[name] ?? ''
}

export function flag(call: Call, name: string): boolean {
  return call.params[name] === '1'
}

/** The host that the path names. The router has made sure that there is one. */
export function hostOf(call: Call): Host {
  const host = call.world.hosts.get(param(call, 'node'))
  if (host === undefined) throw failed(`no such node '${param(call, 'node')}'`)
  return host
}

export function vmidOf(call: Call): number {
  return Number(param(call, 'vmid'))
}

/** The guest that the path names, or the refusal that Proxmox gives: 500, not 404. */
export function guestOf(call: Call, type: 'qemu' | 'lxc' = 'qemu'): Guest {
  const node = param(call, 'node')
  const guest = guestOn(call.world, node, vmidOf(call), type)
  if (guest === undefined) throw failed(missingConfig(node, vmidOf(call), type))
  return guest
}

export function guestOn(world: World, node: string, vmid: number, type: 'qemu' | 'lxc' = 'qemu'): Guest | undefined {
  const guest = world.guests.get(vmid)
  return guest !== undefined && guest.node === node && guest.type === type ? guest : undefined
}

export function missingConfig(node: string, vmid: number, type: 'qemu' | 'lxc' = 'qemu'): string {
  return `Configuration file 'nodes/${node}/${type === 'qemu' ? 'qemu-server' : 'lxc'}/${vmid}.conf' does not exist`
}
