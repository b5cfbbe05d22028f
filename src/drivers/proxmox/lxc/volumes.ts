import { defined } from '../../../lib/defined.ts'
import type { Change } from '../../../model/change.ts'
import type { ContainerMount, ContainerRootDisk, ContainerSpec, ContainerVolume } from '../../../model/container.ts'
import type { ApiFields } from '../foreign.ts'
import type { Moving } from '../move-guest.ts'
import { type Params, textOf } from '../option.ts'
import { compareParts, type PropertyPart, setParts } from '../parts.ts'
import { type Properties, parseProperties, parseSize, printProperties } from '../property-string.ts'
import { storageOf } from '../vm/disks.ts'
import type { ContainerOption } from './option.ts'

const GIB = 2 ** 30
const ROOT_GB = 4
const MOUNT_GB = 8

const VOLUME_PARTS: readonly PropertyPart<ContainerVolume>[] = [
  { field: 'acl', key: 'acl', fallback: false },
  { field: 'quota', key: 'quota', fallback: false },
  { field: 'replicate', key: 'replicate', fallback: true },
  { field: 'mountOptions', key: 'mountoptions' },
]

const MOUNT_PARTS: readonly PropertyPart<ContainerMount>[] = [
  { field: 'path', key: 'mp' },
  { field: 'backup', key: 'backup', fallback: false },
  { field: 'readOnly', key: 'ro', fallback: false },
  { field: 'shared', key: 'shared', fallback: false },
  ...VOLUME_PARTS,
]

/** A volume of a container, wherever it is mounted. */
interface MountedVolume<Item extends ContainerVolume> {
  readonly path: string
  readonly key: string
  readonly item: Item & { readonly storage?: string; readonly sizeGb?: number; readonly source?: string }
  readonly parts: readonly PropertyPart<Item>[]
  readonly defaultGb: number
}

/** The volume that the system inside is on. */
export const rootDisk: ContainerOption = {
  create: ({ spec }, params) => {
    for (const place of rootPlace(spec)) params.rootfs = printNew(place)
  },
  compare: ({ spec }, config, changes) => {
    for (const place of rootPlace(spec)) compare(place, config, changes)
  },
  update: ({ spec }, config, params, chosen) => {
    for (const place of rootPlace(spec)) update(place, config, params, chosen)
  },
}

/** Further volumes, and paths of the host. One that nobody declared is left alone. */
export const mounts: ContainerOption = {
  create: ({ spec }, params) => {
    for (const place of mountPlaces(spec)) params[place.key] = printNew(place)
  },
  compare: ({ spec }, config, changes) => {
    for (const place of mountPlaces(spec)) compare(place, config, changes)
  },
  update: ({ spec }, config, params, chosen) => {
    for (const place of mountPlaces(spec)) update(place, config, params, chosen)
  },
}

/** Every volume that the declaration has a say in, for growing and moving. */
export function declaredVolumes(
  container: ContainerSpec,
): readonly { path: string; key: string; storage?: string; sizeGb?: number }[] {
  return [...rootPlace(container), ...mountPlaces(container)].map(({ path, key, item }) => ({
    path,
    key,
    ...defined({ storage: item.storage, sizeGb: item.sizeGb }),
  }))
}

function rootPlace({ rootDisk: item }: ContainerSpec): readonly MountedVolume<ContainerRootDisk>[] {
  return item === undefined ? [] : [{ path: 'rootDisk', key: 'rootfs', item, parts: VOLUME_PARTS, defaultGb: ROOT_GB }]
}

function mountPlaces(container: ContainerSpec): readonly MountedVolume<ContainerMount>[] {
  return container.mounts.map((item) => ({
    path: `mounts.${item.slot}`,
    key: item.slot,
    item,
    parts: MOUNT_PARTS,
    defaultGb: MOUNT_GB,
  }))
}

function printNew<Item extends ContainerVolume>({ item, parts, defaultGb }: MountedVolume<Item>): string {
  const volume = item.source ?? `${item.storage}:${item.sizeGb ?? defaultGb}`
  const properties: Properties = new Map([['volume', volume]])
  setParts<Item>(properties, item, parts)
  return printProperties(properties, 'volume')
}

function compare<Item extends ContainerVolume>(place: MountedVolume<Item>, config: ApiFields, changes: Change[]): void {
  const { path, item } = place
  const text = textOf(config[place.key])
  if (text === undefined) {
    changes.push({ path, from: undefined, to: printNew(place), effect: 'live' })
    return
  }
  const seen = parseProperties(text, 'volume')
  const volume = seen.get('volume')
  if (item.source !== undefined && volume !== item.source)
    changes.push({ path: `${path}.source`, from: volume, to: item.source, effect: 'restart' })
  const storage = storageOf(volume)
  if (item.storage !== undefined && storage !== item.storage)
    changes.push({ path: `${path}.storage`, from: storage, to: item.storage, effect: 'live' })
  compareSize(place, seen, changes)
  compareParts<Item>(path, item, seen, place.parts, 'restart', changes)
}

function compareSize<Item extends ContainerVolume>(
  place: MountedVolume<Item>,
  seen: Properties,
  changes: Change[],
): void {
  const { sizeGb } = place.item
  const bytes = parseSize(seen.get('size'))
  // A size of nothing is a directory without a limit, and some storages report none.
  if (sizeGb === undefined || bytes === undefined || bytes === 0 || bytes === sizeGb * GIB) return
  const from = Math.round((bytes / GIB) * 1000) / 1000
  const effect = bytes > sizeGb * GIB ? 'replace' : 'live'
  changes.push({ path: `${place.path}.sizeGb`, from, to: sizeGb, effect })
}

function update<Item extends ContainerVolume>(
  place: MountedVolume<Item>,
  config: ApiFields,
  params: Params,
  chosen: ReadonlySet<string>,
): void {
  const text = textOf(config[place.key])
  if (text === undefined) {
    if (chosen.has(place.path)) params[place.key] = printNew(place)
    return
  }
  const isChosen = (field: string) => chosen.has(`${place.path}.${field}`)
  if (!isChosen('source') && !place.parts.some((part) => isChosen(part.field))) return
  const properties = parseProperties(text, 'volume')
  // What was mounted there before stays with the container, as an unused volume.
  if (isChosen('source') && place.item.source !== undefined) {
    properties.set('volume', place.item.source)
    properties.delete('size')
  }
  setParts<Item>(properties, place.item, place.parts, isChosen)
  params[place.key] = printProperties(properties, 'volume')
}

/** What of a container goes along when it is moved to another host. */
export function movingContainer(container: ContainerSpec): Moving {
  const { host, moveHere } = container
  return {
    type: 'container',
    host,
    ...(moveHere === undefined ? {} : { moveHere }),
    volumes: declaredVolumes(container).flatMap(({ key, storage }) =>
      storage === undefined ? [] : [{ slot: key, storage }],
    ),
  }
}
