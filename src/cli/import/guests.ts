import { type Driver, type DriverDeps, ObservationFailed } from '../../drivers/port.ts'
import { EXTERNAL_NAME } from '../../kinds/fields/annotations.ts'
import type { Kind } from '../../kinds/kind.ts'
import { hypervisorOf } from '../../kinds/machines/bindings.ts'
import { findKind } from '../../kinds/registry.ts'
import type { HostSpec } from '../../kinds/schemas/host.ts'
import { inParallel } from '../../lib/parallel.ts'
import { type Declaration, resourceKey } from '../../model/declaration.ts'
import type { Connection } from '../../model/estate.ts'
import { guestIn, type ObservedResource } from '../../model/resource.ts'
import { link } from '../../plan/link.ts'
import { readFiles } from '../../source/files/read-files.ts'
import type { Draft } from '../../source/foreign/draft.ts'
import { fitToKind } from '../../source/foreign/fit.ts'
import { closing } from '../load.ts'
import type { LoadedEstate } from '../runtime.ts'
import { CliError, EXIT } from '../verb.ts'

/** Refusals of our credentials, or with fewer rights than needed. */
const AUTHORITY = new Set(['Unauthorized', 'PermissionDenied', 'WrongCertificate', 'HostKeyMismatch'])

/** A guest that a connection shows and that nothing in the directory declares. */
export interface Undeclared {
  readonly connection: Connection
  readonly driver: Driver
  readonly observed: ObservedResource
}

export interface Guests {
  readonly undeclared: readonly Undeclared[]
  /** Number of guests that are declared already, so left out. */
  readonly declared: number
}

/** Everything that is there and not declared, over all connections. */
export async function findGuests(
  loaded: LoadedEstate,
  drivers: readonly Driver[],
  deps: DriverDeps,
  signal: AbortSignal,
  driverName = 'proxmox',
): Promise<Guests> {
  const undeclared: Undeclared[] = []
  let declared = 0
  for (const connection of loaded.estate.connections) {
    if (connection.driver !== driverName) continue
    const driver = drivers.find(({ name }) => name === connection.driver)
    if (driver?.importGuests === undefined) continue
    const isDeclared = declaredOn(loaded, connection.name)
    await using session = closing(driver.connect(connection, deps))
    const survey = await facts(connection, session.it.survey(signal))
    for (const observed of survey.resources) {
      if (observed.type !== 'vm' && observed.type !== 'container') continue
      if (isDeclared(observed)) declared++
      else undeclared.push({ connection, driver, observed })
    }
  }
  const order = ({ observed }: Undeclared) => observed.externalId.padStart(9, '0')
  undeclared.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  return { undeclared, declared }
}

/** Reads the guests closely. One that is gone by then is left out. */
export async function readDetails(
  guests: readonly Undeclared[],
  deps: DriverDeps,
  signal: AbortSignal,
): Promise<readonly Undeclared[]> {
  const seen = new Map<Undeclared, ObservedResource>()
  for (const connection of new Set(guests.map((guest) => guest.connection))) {
    const here = guests.filter((guest) => guest.connection === connection)
    const driver = here[0]?.driver
    if (driver === undefined) continue
    await using session = closing(driver.connect(connection, deps))
    await inParallel(here, connection.limits.reads, async (guest) => {
      const found = await facts(connection, session.it.observe(guest.observed, { power: true }, signal))
      if (found !== undefined) seen.set(guest, found)
    })
  }
  return guests.flatMap((guest) => {
    const observed = seen.get(guest)
    return observed === undefined ? [] : [{ ...guest, observed }]
  })
}

/** Manifests that take these guests over as they are. */
export async function draftGuests(
  guests: readonly Undeclared[],
  kinds: readonly Kind[],
  loaded: LoadedEstate,
): Promise<readonly { readonly guest: Undeclared; readonly draft: Draft }[]> {
  const taken = new Set(loaded.declarations.map(({ key }) => key))
  const drafts: { guest: Undeclared; draft: Draft }[] = []
  for (const guest of guests) {
    const { observed, connection, driver } = guest
    const imported = await driver.importGuests?.manifest(observed)
    const kind = kinds.find((one) => one.kind === imported?.kind)
    if (imported === undefined || kind === undefined) continue
    const name = freeName(observed, (candidate) => taken.has(resourceKey(kind.kind, candidate)))
    taken.add(resourceKey(kind.kind, name))
    const { name: ownName, ...fields } = imported.fields
    const several = loaded.estate.connections.length > 1
    const own = kind.kind === 'Machine' ? withLogicalNames(fields, connection.name, loaded) : undefined
    const fitted = fitToKind(
      {
        manifest: {
          apiVersion: kind.apiVersion,
          kind: kind.kind,
          metadata: own === undefined ? { name, annotations: { [EXTERNAL_NAME]: observed.externalId } } : { name },
          spec:
            own === undefined
              ? {
                  ...(several ? { providerConfigRef: { name: connection.name } } : {}),
                  deletionPolicy: 'Orphan',
                  forProvider: { ...(ownName === undefined || ownName === name ? {} : { name: ownName }), ...fields },
                }
              : { ...own.fields, deletionPolicy: 'Orphan' },
        },
        comments: [
          ...imported.notes,
          ...(own?.notes ?? []),
          ...(imported.unmanaged.length === 0
            ? []
            : [`not managed by croft, stays as it is: ${imported.unmanaged.join(', ')}`]),
        ],
      },
      kind,
    )
    const [wrong] = fitted.problems
    if (wrong !== undefined)
      throw new CliError(`${nounOf(observed)} cannot be declared: ${wrong.message}. Leave it out with --guest.`)
    drafts.push({ guest, draft: fitted.draft })
  }
  return drafts
}

/** Returns a plan's remaining changes, without the mark: a line per guest. Empty after a correct import. */
export function stillDiffering(
  drafts: readonly { readonly guest: Undeclared; readonly draft: Draft }[],
  text: string,
  loaded: LoadedEstate,
): readonly string[] {
  const read = readFiles({ files: [{ path: 'import.yaml', bytes: Buffer.from(text) }], links: [] })
  const declarations = [...loaded.declarations, ...read.declarations]
  const { resources } = link({ ...read, declarations }, { findKind })
  return drafts.flatMap(({ guest: { driver, observed }, draft }) => {
    const key = resourceKey(draft.manifest.kind, draft.manifest.metadata.name)
    const resource = resources.find((one) => one.key === key)
    if (resource === undefined) return [`${nounOf(observed)} could not be read back as ${key}`]
    const changes = driver.rules.diff(resource, observed).filter(({ path }) => path !== 'mark')
    return changes.length === 0 ? [] : [`${nounOf(observed)}: ${changes.map(({ path }) => path).join(', ')}`]
  })
}

function nounOf({ type, externalId }: ObservedResource): string {
  return `${type === 'container' ? 'container' : 'VM'} ${externalId}`
}

function declaredOn(loaded: LoadedEstate, connection: string): (observed: ObservedResource) => boolean {
  const ids = new Set<string>()
  const uids = new Set<string>()
  for (const resource of loaded.estate.resources) {
    if (resource.connection !== connection) continue
    uids.add(resource.uid)
    const vmid = guestIn(resource.desired)?.vmid
    if (vmid !== undefined) ids.add(String(vmid))
    if (resource.policy.adopt !== undefined) ids.add(resource.policy.adopt)
  }
  return ({ externalId, mark }) => ids.has(externalId) || (mark !== undefined && uids.has(mark.uid))
}

/** Returns the guest's name if it is valid and free; otherwise appends its id. */
function freeName({ name = '', externalId, type }: ObservedResource, isTaken: (name: string) => boolean): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    .slice(0, 200)
  const base = plain === '' ? `${type === 'container' ? 'ct' : 'vm'}-${externalId}` : plain.replace(/[^a-z0-9]+$/, '')
  return isTaken(base) ? `${base}-${externalId}` : base
}

async function facts<T>(connection: Connection, look: Promise<T>): Promise<T> {
  try {
    return await look
  } catch (error) {
    if (!(error instanceof ObservationFailed)) throw error
    const { reason, message } = error.refusal
    throw new CliError(
      `${connection.name} (${connection.endpoint}) does not answer as it should: ${message}. Run croft doctor to see why.`,
      AUTHORITY.has(reason) ? EXIT.unauthorized : EXIT.failed,
    )
  }
}

type GuestFields = Readonly<Record<string, unknown>>
type NamedFields = Readonly<Record<string, unknown>>

/**
 * Turns names of the hypervisor into logical names of networks and storages, and its nodes into Hosts, as a Machine
 * names them. A name without a binding stays, and a note says what is missing.
 */
function withLogicalNames(
  fields: GuestFields,
  connection: string,
  { declarations }: LoadedEstate,
): { readonly fields: GuestFields; readonly notes: readonly string[] } {
  const lookup = {
    all: (kind: string) => declarations.filter((one) => one.kind === kind),
    declaration: (kind: string, name: string) => declarations.find((one) => one.kind === kind && one.name === name),
  }
  const hosts = lookup.all('Host') as readonly Declaration<HostSpec>[]
  const host = hosts.find((one) => hypervisorOf(one, lookup)?.name === connection)
  if (host === undefined) return { fields, notes: [`declare the Host of connection ${connection} with its bindings`] }
  const { networks, storages } = host.spec.bindings
  const notes: string[] = []
  const nameOf = (what: string, bound: ReadonlyMap<string, string>, real: unknown) => {
    const logical = bound.get(String(real))
    if (logical === undefined) notes.push(`bind ${String(real)} as a ${what} of Host ${host.name}`)
    return logical ?? real
  }
  const boundNetworks = new Map(Object.entries(networks).map(([name, { bridge }]) => [bridge, name]))
  const boundStorages = new Map(Object.entries(storages).map(([name, real]) => [real, name]))
  const listed = (value: unknown) => (Array.isArray(value) ? (value as readonly NamedFields[]) : [])
  return {
    fields: {
      ...fields,
      host: host.name,
      disks: listed(fields.disks).map((disk) => ({ ...disk, storage: nameOf('storage', boundStorages, disk.storage) })),
      networks: listed(fields.networks).map((nic) => ({
        ...nic,
        network: nameOf('network', boundNetworks, nic.network),
      })),
    },
    notes: [...new Set(notes)],
  }
}
