import type { Random } from '../src/lib/random.ts'
import type { ObservedResource, Survey } from '../src/model/resource.ts'
import { createDatacentre, type Datacentre } from './datacentre.ts'
import type { SimClock } from './sim-clock.ts'
import { addStorage } from './world/create-world.ts'
import { powerOn } from './world/guest-run.ts'
import { addGuest } from './world/presets.ts'
import { volumesOf } from './world/volumes.ts'

const GIB = 2 ** 30

/**
 * A datacentre that looks like an observed one: its hosts, storages and guests, as far as they were seen closely. Things
 * that were not read exist by name only, so that their id is taken.
 */
export function createTwin(
  survey: Survey,
  close: ReadonlyMap<string, ObservedResource>,
  options: { readonly clock: SimClock; readonly random: Random },
): Datacentre {
  const hosts = survey.hosts.map(({ name }) => name)
  const datacentre = createDatacentre({ ...options, preset: 'empty', hosts })
  const { world } = datacentre
  for (const { name, content, shared, totalBytes } of survey.storages) {
    const files = content.some(
      (sort) => sort === 'iso' || sort === 'vztmpl' || sort === 'snippets' || sort === 'import',
    )
    addStorage(world, {
      id: name,
      type: files ? 'dir' : 'zfspool',
      content: [...content],
      shared,
      ...(files ? {} : { path: '' }),
      ...(totalBytes === undefined ? {} : { totalBytes }),
      baseUsedBytes: 0,
    })
  }
  for (const seen of survey.resources) {
    const host = world.hosts.get(seen.host)
    const vmid = Number(seen.externalId)
    if (host === undefined || seen.type !== 'vm' || !Number.isInteger(vmid)) continue
    const guest = addGuest(world, host, vmid, seen.name === undefined ? {} : { name: seen.name })
    for (const [key, value] of Object.entries(close.get(seen.externalId)?.close?.config ?? {})) {
      if (key === 'digest' || (typeof value !== 'string' && typeof value !== 'number')) continue
      guest.config.set(key, String(value))
      const volume = /^([A-Za-z0-9_-]+):([^,]+),.*\bsize=(\d+)([MGT])/.exec(String(value))
      if (volume === null) continue
      const [, storage = '', name = '', size = '0', unit = 'G'] = volume
      const bytes = Number(size) * (unit === 'M' ? GIB / 1024 : unit === 'T' ? GIB * 1024 : GIB)
      volumesOf(host, storage).set(name, {
        name,
        content: 'images',
        format: name.endsWith('.qcow2') ? 'qcow2' : 'raw',
        sizeBytes: bytes,
        usedBytes: Math.min(bytes, 2 * GIB),
        vmid,
        ctimeSeconds: Math.floor(world.clock.now() / 1000) - 86_400,
        system: { agent: true, acpi: true },
      })
    }
    if (seen.power === 'running') {
      powerOn(world, host, guest, 0)
      guest.run.startedAtMs -= 3_600_000
      guest.run.bootedAtMs = guest.run.startedAtMs + 20_000
    }
  }
  return datacentre
}
