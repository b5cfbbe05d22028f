import { createHash } from 'node:crypto'
import { type Declaration, showOrigin } from '../../model/declaration.ts'
import type { AddressPoolSpec } from '../address-pool.ts'
import { clusterAddresses } from '../cluster/members.ts'
import type { VmFields } from '../crossplane/vm-schema.ts'
import { ipv4InNetwork, ipv4Network, ipv4Number, ipv4Text } from '../fields/address.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import type { NetworkSpec } from '../network.ts'
import type { MachineSpec } from '../schemas/machine.ts'
import { machinesIn } from './all-machines.ts'

export interface GivenAddress {
  readonly address: string
  readonly prefix: number
}

interface Given {
  /** One entry per network of the machine; undefined is DHCP. */
  readonly addresses: readonly (GivenAddress | undefined)[]
  readonly problems: readonly FieldProblem[]
  readonly warnings: readonly FieldProblem[]
}

interface AddressRequest {
  readonly machine: Declaration<MachineSpec>
  readonly index: number
  readonly pool: Declaration<AddressPoolSpec>
}

interface Book {
  readonly given: Map<string, GivenAddress>
  readonly problems: Map<string, FieldProblem[]>
  readonly warnings: Map<string, FieldProblem[]>
}

const books = new WeakMap<Lookup, Book>()

/**
 * The addresses of one machine. Stated ones come first. Then each machine that wants one from a pool gets the place
 * that the hash of its key points to, so that its address depends on its own name alone; only when two names point to
 * the same place does one of them move to the next free one, and that is said in a warning, with the advice to write
 * the address down. Nothing is remembered: a lost database gives the same addresses again.
 */
export function givenAddresses(machine: Declaration<MachineSpec>, lookup: Lookup): Given {
  const book = books.get(lookup) ?? allocate(lookup)
  books.set(lookup, book)
  return {
    addresses: machine.spec.networks.map((_, index) => book.given.get(place(machine, index))),
    problems: book.problems.get(machine.key) ?? [],
    warnings: book.warnings.get(machine.key) ?? [],
  }
}

function allocate(lookup: Lookup): Book {
  const book: Book = { given: new Map(), problems: new Map(), warnings: new Map() }
  const taken = takenElsewhere(lookup)
  const wishes: AddressRequest[] = []
  for (const machine of machinesIn(lookup)) {
    for (const [index, nic] of machine.spec.networks.entries()) {
      const path = ['spec', 'networks', index, 'address']
      const pool = poolOf(nic.network, machine, lookup)
      if (nic.address === 'dhcp' || (nic.address === undefined && pool === undefined)) continue
      if (pool === undefined) {
        note(book.problems, machine.key, {
          code: 'unknown-reference',
          path,
          message: `the network ${nic.network} has no address pool, so ${nic.address === 'pool' ? 'there is nothing to choose from' : 'the prefix of the address is not known'}`,
          hint: `declare Network ${nic.network} with addressPool, or use dhcp`,
        })
      } else if (nic.address === undefined || nic.address === 'pool') wishes.push({ machine, index, pool })
      else state(nic.address, { machine, index, pool }, path, taken, book)
    }
  }
  // Two names that point to the same place must always settle it the same way, whatever order the files are in.
  for (const wish of wishes.sort((a, b) => (place(a.machine, a.index) < place(b.machine, b.index) ? -1 : 1))) {
    choose(wish, taken, book)
  }
  return book
}

/** An address that a machine states: it must be in the network, and nobody else's. */
function state(
  address: string,
  wish: AddressRequest,
  path: FieldProblem['path'],
  taken: Map<string, string>,
  book: Book,
): void {
  const { machine, index, pool } = wish
  const network = ipv4Network(pool.spec.cidr)
  const owner = taken.get(address)
  if (!ipv4InNetwork(address, pool.spec.cidr)) {
    note(book.problems, machine.key, {
      code: 'bad-value',
      path,
      message: `${address} is not in ${pool.spec.cidr}, the network of AddressPool ${pool.name}`,
      hint: `choose an address of ${pool.spec.cidr}, or leave address out and croft takes a free one of the pool`,
    })
  } else if (owner !== undefined) {
    note(book.problems, machine.key, {
      code: 'address-conflict',
      path,
      message: `${address} is used twice: here and by ${owner}`,
      hint: 'give one of them another address',
    })
  } else {
    taken.set(address, `${machine.key} (${showOrigin(machine.origin)})`)
    book.given.set(place(machine, index), { address, prefix: network.prefix })
  }
}

function choose(wish: AddressRequest, taken: Map<string, string>, book: Book): void {
  const { machine, index, pool } = wish
  const places = placesOf(pool.spec)
  const count = places.reduce((sum, range) => sum + range.count, 0)
  const reserved = new Set(pool.spec.reserved ?? [])
  const path = ['spec', 'networks', index]
  const start = count === 0 ? 0 : hash(`${pool.key}\0${place(machine, index)}`) % count
  let displacedBy: string | undefined
  for (let step = 0; step < count; step++) {
    const address = addressAt(places, (start + step) % count)
    if (reserved.has(address)) continue
    const owner = taken.get(address)
    if (owner !== undefined) {
      displacedBy ??= owner
      continue
    }
    taken.set(address, `${machine.key} (${showOrigin(machine.origin)})`)
    book.given.set(place(machine, index), { address, prefix: ipv4Network(pool.spec.cidr).prefix })
    if (displacedBy !== undefined) {
      note(book.warnings, machine.key, {
        code: 'address-moved',
        path,
        severity: 'warning',
        message: `${address} was the next free address: the first choice is taken by ${displacedBy}`,
        hint: `write address: ${address} so that it stays, whatever is added later`,
      })
    }
    return
  }
  note(book.problems, machine.key, {
    code: 'pool-exhausted',
    path,
    message: `AddressPool ${pool.name} (${showOrigin(pool.origin)}) has no free address left: its ${count} are all taken`,
    hint: 'add a range to the pool, or declare fewer machines',
  })
}

/** Addresses that other kinds state are never given out. */
function takenElsewhere(lookup: Lookup): Map<string, string> {
  const taken = new Map<string, string>()
  for (const network of lookup.all('Network') as readonly Declaration<NetworkSpec>[]) {
    if (network.spec.gateway !== undefined) taken.set(network.spec.gateway, `the gateway of ${network.key}`)
  }
  for (const vm of lookup.all('EnvironmentVM') as readonly Declaration<{ forProvider: VmFields }>[]) {
    for (const entry of vm.spec.forProvider.initialization?.ipConfig ?? []) {
      const address = entry.ipv4?.address?.split('/')[0]
      if (address !== undefined && address !== 'dhcp') taken.set(address, `${vm.key} (${showOrigin(vm.origin)})`)
    }
  }
  for (const { address, owner } of clusterAddresses(lookup)) taken.set(address, owner)
  return taken
}

interface AddressRange {
  readonly first: number
  readonly count: number
}

function placesOf(pool: AddressPoolSpec): readonly AddressRange[] {
  if (pool.ranges !== undefined) {
    return pool.ranges.map((range) => ({
      first: ipv4Number(range.from),
      count: Math.max(0, ipv4Number(range.to) - ipv4Number(range.from) + 1),
    }))
  }
  const { first, last } = ipv4Network(pool.cidr)
  return [{ first: first + 1, count: Math.max(0, last - first - 1) }]
}

function addressAt(places: readonly AddressRange[], index: number): string {
  let rest = index
  for (const range of places) {
    if (rest < range.count) return ipv4Text(range.first + rest)
    rest -= range.count
  }
  return ipv4Text(0)
}

function poolOf(
  network: string,
  machine: Declaration<MachineSpec>,
  lookup: Lookup,
): Declaration<AddressPoolSpec> | undefined {
  const declared = (lookup.declaration('Network', network, machine.namespace) ??
    lookup.declaration('Network', network)) as Declaration<NetworkSpec> | undefined
  const pool = declared?.spec.addressPool
  if (pool === undefined) return undefined
  const found = lookup.declaration('AddressPool', pool, declared?.namespace) ?? lookup.declaration('AddressPool', pool)
  return found as Declaration<AddressPoolSpec> | undefined
}

function place(machine: Declaration, index: number): string {
  return `${machine.key}#${index}`
}

function hash(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0)
}

function note(notes: Map<string, FieldProblem[]>, key: string, problem: FieldProblem): void {
  notes.set(key, [...(notes.get(key) ?? []), problem])
}
