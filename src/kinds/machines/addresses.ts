import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { type Declaration, showOrigin } from '../../model/declaration.ts'
import type { AddressPoolSpec } from '../address-pool.ts'
import { ipv4InNetwork, ipv4Network, ipv4Number, ipv4Text } from '../fields/address.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import type { NetworkSpec } from '../network.ts'
import type { MachineSpec } from '../schemas/machine.ts'
import { machinesIn } from './all-machines.ts'
import { statedAddresses } from './stated-addresses.ts'

export interface GivenAddress {
  readonly address: string
  readonly prefix: number
}

interface Given {
  /** One entry per network of the machine; undefined for DHCP. */
  readonly addresses: readonly (GivenAddress | undefined)[]
  readonly problems: readonly FieldProblem[]
  readonly warnings: readonly FieldProblem[]
}

interface AddressRequest {
  readonly machine: Declaration<MachineSpec>
  readonly index: number
  readonly pool: Declaration<AddressPoolSpec>
}

/** Addresses that a pool must not assign. */
interface Taken {
  /** The owner of each address. */
  readonly owned: Map<string, string>
  readonly expected: ReadonlyMap<string, string>
}

interface Book {
  readonly given: Map<string, GivenAddress>
  readonly problems: Map<string, FieldProblem[]>
  readonly warnings: Map<string, FieldProblem[]>
}

const books = new WeakMap<Lookup, Book>()

/**
 * Returns the addresses of one machine. Declared ones come first. A machine that has an address of its network keeps
 * it, even if the pool's ranges change. Others get the address at the hash of their key, or the next free one, with a
 * warning that advises to declare it. The present address is observed and in the record; if both are lost, the hash
 * gives the same one again.
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
  const machines = machinesIn(lookup)
  const stated = statedAddresses(lookup, machines)
  const taken: Taken = { ...stated, owned: new Map(stated.owned) }
  const wishes: AddressRequest[] = []
  for (const machine of machines) {
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
      else state(nic.address, { machine, index, pool }, path, taken.owned, book)
    }
  }
  // Sort, so that two names with equal hashes are always settled the same way, in any order of the files.
  wishes.sort((a, b) => (place(a.machine, a.index) < place(b.machine, b.index) ? -1 : 1))
  const known = wishes.filter((wish) => !keep(wish, lookup, taken, book))
  // An address that only the guest reports does not displace one that another machine is known to have.
  const without = known.filter((wish) => !keepTold(wish, lookup, taken, book))
  for (const wish of without) choose(wish, taken, book)
  return book
}

/** Keeps the machine's known address. Returns false if it has none here, or if a manifest gives it to another. */
function keep(wish: AddressRequest, lookup: Lookup, { owned }: Taken, book: Book): boolean {
  const has = lookup.kept?.get(wish.machine.key)
  return has !== undefined && has.told !== true && keepFirst(wish, has.addresses, owned, book)
}

/** Keeps an address that only the guest reports. A guest may report anything, so only addresses of the pool count. */
function keepTold(wish: AddressRequest, lookup: Lookup, { owned, expected }: Taken, book: Book): boolean {
  const has = lookup.kept?.get(wish.machine.key)
  if (has?.told !== true) return false
  const ranges = placesOf(wish.pool.spec)
  const possible = has.addresses.filter(
    (address) => isIPv4(address) && isWithin(ranges, address) && !expected.has(address),
  )
  return keepFirst(wish, possible, owned, book)
}

function keepFirst(wish: AddressRequest, has: readonly string[], owned: Map<string, string>, book: Book): boolean {
  const { cidr } = wish.pool.spec
  const kept = has.find((address) => isIPv4(address) && ipv4InNetwork(address, cidr) && !owned.has(address))
  if (kept === undefined) return false
  give(wish, kept, owned, book)
  return true
}

function give({ machine, index, pool }: AddressRequest, address: string, owned: Map<string, string>, book: Book): void {
  owned.set(address, `${machine.key} (${showOrigin(machine.origin)})`)
  book.given.set(place(machine, index), { address, prefix: ipv4Network(pool.spec.cidr).prefix })
}

/** Takes an address that a machine states: it must be in the network, and free. */
function state(
  address: string,
  wish: AddressRequest,
  path: FieldProblem['path'],
  owned: Map<string, string>,
  book: Book,
): void {
  const { machine, pool } = wish
  const { first, last, prefix } = ipv4Network(pool.spec.cidr)
  const owner = owned.get(address)
  if (!ipv4InNetwork(address, pool.spec.cidr)) {
    note(book.problems, machine.key, {
      code: 'bad-value',
      path,
      message: `${address} is not in ${pool.spec.cidr}, the network of AddressPool ${pool.name}`,
      hint: `choose an address of ${pool.spec.cidr}, or leave address out and croft takes a free one of the pool`,
    })
  } else if (prefix < 31 && (ipv4Number(address) === first || ipv4Number(address) === last)) {
    const what = ipv4Number(address) === first ? 'the address of the network' : 'the broadcast address'
    note(book.problems, machine.key, {
      code: 'bad-value',
      path,
      message: `${address} is ${what} of ${pool.spec.cidr}, the network of AddressPool ${pool.name}: no machine can have it`,
      hint: `choose an address from ${ipv4Text(first + 1)} to ${ipv4Text(last - 1)}`,
    })
  } else if (owner !== undefined) {
    note(book.problems, machine.key, {
      code: 'address-conflict',
      path,
      message: `${address} is used twice: here and by ${owner}`,
      hint: 'give one of them another address',
    })
  } else give(wish, address, owned, book)
}

function choose(wish: AddressRequest, { owned, expected }: Taken, book: Book): void {
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
    const owner = owned.get(address) ?? expected.get(address)
    if (owner !== undefined) {
      displacedBy ??= owner
      continue
    }
    give(wish, address, owned, book)
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

function isWithin(ranges: readonly AddressRange[], address: string): boolean {
  const at = ipv4Number(address)
  return ranges.some(({ first, count }) => at >= first && at < first + count)
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
