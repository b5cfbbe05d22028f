import { defined } from '../../lib/defined.ts'
import type { Declaration, ResourceKey } from '../../model/declaration.ts'
import type { FileSpec } from '../../model/file.ts'
import { fileNameOf } from '../fields/file-name.ts'
import type { Lookup } from '../kind.ts'
import type { HostSpec } from '../schemas/host.ts'
import type { ImageSpec } from '../schemas/image.ts'
import { machinesIn } from './all-machines.ts'
import { findHost, nodeOf } from './bindings.ts'

export interface ImageFile {
  readonly key: ResourceKey
  readonly host: Declaration<HostSpec>
  readonly file: FileSpec
}

const usersOf = new WeakMap<Lookup, ReadonlyMap<string, ReadonlySet<string>>>()

/** The hosts that an image must be on: those it names, or those whose machines are made from it. */
export function imageHosts(image: Declaration<ImageSpec>, lookup: Lookup): readonly string[] {
  if (image.spec.hosts !== undefined) return image.spec.hosts
  const users = usersOf.get(lookup) ?? countUsers(lookup)
  usersOf.set(lookup, users)
  return [...(users.get(image.name) ?? [])].sort()
}

/** Reports whether the copy is only for machines with `host: auto` that may come to this host. */
export function isJustInCase(image: Declaration<ImageSpec>, host: string, lookup: Lookup): boolean {
  if (image.spec.hosts !== undefined) return false
  return !machinesIn(lookup).some(
    ({ spec }) => spec.host === host && spec.disks.some((disk) => disk.image === image.name),
  )
}

/** Returns the copy of an image on one host. Undefined if the host does not bind the storage. */
export function imageFile(image: Declaration<ImageSpec>, host: Declaration<HostSpec>): ImageFile | undefined {
  const storage = Object.hasOwn(host.spec.bindings.storages, image.spec.storage)
    ? host.spec.bindings.storages[image.spec.storage]
    : undefined
  const name = imageName(image.spec, image.name)
  if (storage === undefined || name === undefined) return undefined
  const [algorithm = 'sha256', value = ''] = image.spec.checksum?.split(':') ?? []
  const node = nodeOf(host)
  return {
    key: `${image.key}@${node}`,
    host,
    file: defined<FileSpec>({
      host: node,
      storage,
      content: image.spec.content,
      fileName: name,
      url: image.spec.url ?? `build:${image.name}`,
      checksum: image.spec.checksum === undefined ? undefined : { algorithm, value },
      decompression: image.spec.decompression,
      overwrite: image.spec.replace,
    }),
  }
}

/** Returns the file name on a storage. */
export function imageName(spec: ImageSpec, name: string): string | undefined {
  return spec.fileName ?? (spec.url === undefined ? `${name}.qcow2` : fileNameOf(spec.url))
}

/** All copies of all images that can be placed. */
export function imageFiles(lookup: Lookup): readonly ImageFile[] {
  return (lookup.all('Image') as readonly Declaration<ImageSpec>[]).flatMap((image) =>
    imageHosts(image, lookup).flatMap((name) => {
      const host = findHost(name, image.namespace, lookup)
      const file = host === undefined ? undefined : imageFile(image, host)
      return file === undefined ? [] : [file]
    }),
  )
}

function countUsers(lookup: Lookup): ReadonlyMap<string, ReadonlySet<string>> {
  const users = new Map<string, Set<string>>()
  for (const machine of machinesIn(lookup)) {
    for (const disk of machine.spec.disks) {
      if (disk.image === undefined) continue
      const hosts = users.get(disk.image) ?? new Set()
      const anywhere = machine.spec.host === 'auto' ? lookup.all('Host').map(({ name }) => name) : [machine.spec.host]
      for (const host of anywhere) hosts.add(host)
      users.set(disk.image, hosts)
    }
  }
  return users
}
