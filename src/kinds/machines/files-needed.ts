import type { ResourceKey } from '../../model/declaration.ts'
import { volumeId } from '../../model/file.ts'
import type { VmSpec } from '../../model/vm.ts'
import { downloadedFile } from '../crossplane/download-spec.ts'
import { environmentFileOf } from '../crossplane/file-spec.ts'
import type { Lookup } from '../kind.ts'
import { imageFiles } from './image-files.ts'

/** Computed once for a revision: a thousand machines look up the same few files. */
const indexes = new WeakMap<Lookup, ReadonlyMap<string, ResourceKey>>()

/** Returns the declared files that a VM is made from: they must be created first. Undeclared ones must exist. */
export function filesNeeded(vm: VmSpec, lookup: Lookup): readonly ResourceKey[] {
  const { userData, networkData, metaData, vendorData } = vm.cloudInit ?? {}
  const volumes = [
    ...vm.disks.map((disk) => disk.importFrom),
    ...(vm.cdrom ?? []).map((drive) => drive.file),
    userData,
    networkData,
    metaData,
    vendorData,
  ]
  return volumesNeeded(vm.host, volumes, lookup)
}

/** Returns the files needed for any volumes of a host. */
export function volumesNeeded(
  host: string,
  volumes: readonly (string | undefined)[],
  lookup: Lookup,
): readonly ResourceKey[] {
  const files = indexes.get(lookup) ?? index(lookup)
  indexes.set(lookup, files)
  const needs = new Set<ResourceKey>()
  for (const volume of volumes) {
    const key = volume === undefined ? undefined : files.get(`${host}/${volume}`)
    if (key !== undefined) needs.add(key)
  }
  return [...needs]
}

function index(lookup: Lookup): ReadonlyMap<string, ResourceKey> {
  const files = new Map<string, ResourceKey>()
  for (const declaration of lookup.all('EnvironmentDownloadFile')) {
    const file = downloadedFile(declaration)
    if (file !== undefined) files.set(`${file.host}/${volumeId(file)}`, declaration.key)
  }
  for (const declaration of lookup.all('EnvironmentFile')) {
    const file = environmentFileOf(declaration)
    if (file !== undefined) files.set(`${file.host}/${volumeId(file)}`, declaration.key)
  }
  for (const { key, file } of imageFiles(lookup)) files.set(`${file.host}/${volumeId(file)}`, key)
  return files
}
