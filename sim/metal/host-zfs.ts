import type { HostCall, HostCommand, HostOutcome } from './host-command.ts'

/** ZFS commands for pools and datasets, with the messages of OpenZFS 2. */
export const zfsCommands: Readonly<Record<string, HostCommand>> = {
  zpool: (call) => ZPOOL[call.argv[1] ?? '']?.(call) ?? { code: 2, err: 'unrecognized command' },
  zfs: (call) => ZFS[call.argv[1] ?? '']?.(call) ?? { code: 2, err: 'unrecognized command' },
}

const ZPOOL: Readonly<Record<string, HostCommand>> = {
  list: ({ state }) => ({ out: [...state.pools.keys()].map((name) => `${name}\n`).join('') }),
  status: ({ state, argv }) => {
    const name = argv.at(-1) ?? ''
    const pool = state.pools.get(name)
    if (pool === undefined) return noPool(name)
    const rows = pool.devices.map((one) => `\t    ${one}-part1  ONLINE       0     0     0\n`).join('')
    return {
      out: `  pool: ${name}\n state: ONLINE\nconfig:\n\n\t${name}\n\t  mirror-0\n${rows}\nerrors: No known data errors\n`,
    }
  },
  get: ({ state, argv }) => propertiesOf(state.pools.get(argv.at(-1) ?? '')?.properties),
  create: ({ state, argv }) => {
    const words = plain(argv.slice(2))
    const [name = '', ...rest] = words
    if (state.pools.has(name)) return { code: 1, err: `cannot create '${name}': pool already exists` }
    const devices = rest.filter((word) => word.startsWith('/dev/'))
    for (const device of devices) {
      const disk = state.disks.get(device)
      if (disk === undefined) return { code: 1, err: `cannot open '${device}': no such device` }
      disk.content = 'zfs_member'
    }
    state.pools.set(name, { devices, properties: optionsIn(argv) })
    return {}
  },
  attach: ({ state, argv: [, , name = '', mirrorOf = '', device = ''] }) => {
    const [pool, disk] = [state.pools.get(name), state.disks.get(device)]
    if (pool === undefined || disk === undefined || !pool.devices.includes(mirrorOf)) return { code: 1 }
    if (pool.devices.includes(device)) return { code: 1, err: `${device} is part of active pool '${name}'` }
    disk.content = 'zfs_member'
    pool.devices.push(device)
    return {}
  },
  set: ({ state, argv: [, , pair = '', name = ''] }) => setIn(state.pools.get(name)?.properties, pair, noPool(name)),
}

const ZFS: Readonly<Record<string, HostCommand>> = {
  get: ({ state, argv }) => propertiesOf(state.datasets.get(argv.at(-1) ?? '')),
  create: ({ state, argv }) => {
    const name = argv.at(-1) ?? ''
    if (!state.pools.has(name.split('/')[0] ?? '')) return noPool(name)
    // With -p, one that is there already is no error.
    if (!state.datasets.has(name)) state.datasets.set(name, optionsIn(argv))
    return {}
  },
  inherit: ({ state, argv: [, , property = '', name = ''] }) => {
    state.datasets.get(name)?.delete(property)
    return {}
  },
  set: ({ state, argv: [, , pair = '', name = ''] }) => setIn(state.datasets.get(name), pair, { code: 1 }),
}

const noPool = (name: string): HostOutcome => ({ code: 1, err: `cannot open '${name}': no such pool` })

function propertiesOf(properties: ReadonlyMap<string, string> | undefined): HostOutcome {
  if (properties === undefined) return { code: 1 }
  return { out: [...properties].map(([name, value]) => `${name}\t${value}\n`).join('') }
}

function setIn(properties: Map<string, string> | undefined, pair: string, missing: HostOutcome): HostOutcome {
  if (properties === undefined) return missing
  const [name = '', value = ''] = pair.split('=')
  properties.set(name, value)
  return {}
}

/** Words without options and without what belongs to them. */
function plain(words: HostCall['argv']): readonly string[] {
  return words.filter((word, at) => !word.startsWith('-') && words[at - 1] !== '-o')
}

function optionsIn(argv: HostCall['argv']): Map<string, string> {
  const pairs = argv.filter((_, at) => argv[at - 1] === '-o').map((pair) => pair.split('='))
  return new Map(pairs.map(([name = '', value = '']) => [name, value]))
}
