import { bytesOf, type Command, out, type Said } from './command.ts'
import { type LibvirtHost, poolNamed, volumeAt, volumes } from './domains.ts'

/** What virsh knows of volumes. */
export const VOLUME_COMMANDS: Readonly<Record<string, Command>> = {
  'vol-list': (at, { named }) => {
    const pool = poolNamed(at, named.get('pool') ?? '')
    if (pool === undefined) return { error: `failed to get pool '${named.get('pool')}'` }
    if (isOff(at, pool.name)) return { error: `Failed to list volumes\nerror: ${OFF}` }
    const rows = [...volumes(at, pool.name).keys()].sort().map((name) => ` ${name}   ${pool.path}/${name}\n`)
    return out(` Name   Path\n---------------\n${rows.join('')}\n`)
  },
  'vol-dumpxml': (at, { words, named }) => {
    const pool = named.get('pool') ?? ''
    if (isOff(at, pool)) return { error: `pool '${pool}' is not active` }
    const volume = volumes(at, pool).get(words[0] ?? '')
    if (volume === undefined) return { error: `failed to get vol '${words[0]}'` }
    const backing =
      volume.parent === undefined ? '' : `  <backingStore>\n    <path>${volume.parent}</path>\n  </backingStore>\n`
    return out(
      `<volume type='file'>\n  <name>${volume.name}</name>\n  <capacity unit='bytes'>${volume.sizeBytes}</capacity>\n  <target>\n    <path>${at.pools.get(pool)?.path}/${volume.name}</path>\n    <timestamps>\n      <ctime>${volume.ctimeSeconds}.0</ctime>\n    </timestamps>\n  </target>\n${backing}</volume>\n`,
    )
  },
  'vol-create-as': (at, { named }) => makeVolume(at, named),
  'vol-clone': (at, { words: [from = '', name = ''], named }) => {
    const all = volumes(at, named.get('pool') ?? '')
    const source = all.get(from)
    if (source === undefined) return { error: `failed to get vol '${from}'` }
    all.set(name, { ...source, name, content: 'images', ctimeSeconds: Math.floor(at.world.clock.now() / 1000) })
    return out(`Vol ${name} cloned from ${from}\n\n`)
  },
  'vol-resize': (at, { words: [name = '', size = ''], named }) => {
    const volume = volumes(at, named.get('pool') ?? '').get(name)
    if (volume === undefined) return { error: `failed to get vol '${name}'` }
    if (bytesOf(size) < volume.sizeBytes) return { error: `Can't shrink capacity below current capacity` }
    volume.sizeBytes = bytesOf(size)
    return out(`Size of volume '${name}' successfully changed to ${size}\n`)
  },
  'vol-delete': (at, { words: [name = ''], named }) =>
    !isOff(at, named.get('pool') ?? '') && volumes(at, named.get('pool') ?? '').delete(name)
      ? out(`Vol ${name} deleted\n\n`)
      : { error: `failed to get vol '${name}'\nerror: Storage volume not found` },
  'vol-upload': (at, { words: [name = ''], named }, input) => {
    const all = volumes(at, named.get('pool') ?? '')
    const volume = all.get(name)
    if (volume === undefined) return { error: `failed to get vol '${name}'` }
    const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : (input ?? new Uint8Array())
    all.set(name, { ...volume, sizeBytes: bytes.length, bytes })
    return out('\n')
  },
}

const OFF = 'Requested operation is not valid: storage pool is not active'

function isOff({ pools }: LibvirtHost, name: string): boolean {
  const pool = pools.get(name)
  return pool !== undefined && pool.live === undefined
}

export function makeVolume(at: LibvirtHost, named: ReadonlyMap<string, string>): Said {
  const [pool = '', name = ''] = [named.get('pool'), named.get('name')]
  if (!at.pools.has(pool)) return { error: `failed to get pool '${pool}'` }
  if (isOff(at, pool)) return { error: OFF }
  const all = volumes(at, pool)
  if (all.has(name)) return { error: `Failed to create vol ${name}\nerror: storage volume '${name}' exists already` }
  const backing = named.get('backing-vol')
  const place = backing === undefined ? undefined : volumeAt(at, backing)
  const base = place === undefined ? undefined : volumes(at, place.pool).get(place.name)
  if (backing !== undefined && base === undefined) return { error: `failed to get vol '${backing}'` }
  all.set(name, {
    name,
    content: 'images',
    format: named.get('format') ?? 'raw',
    sizeBytes: bytesOf(named.get('capacity') ?? '0'),
    ctimeSeconds: Math.floor(at.world.clock.now() / 1000),
    ...(base?.system === undefined ? {} : { system: base.system }),
    ...(backing === undefined ? {} : { parent: backing }),
  })
  return out(`Vol ${name} created\n\n`)
}
