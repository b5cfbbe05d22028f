import { parseProperties } from '../property-string.ts'
import { bridgePaths, type OptionNeeds, sees, storageOf } from './option-privileges.ts'

const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^(?:cores|cpulimit|cpuunits)$/, 'VM.Config.CPU'],
  [/^(?:memory|swap)$/, 'VM.Config.Memory'],
  [/^(?:rootfs|mp\d+)$/, 'VM.Config.Disk'],
  [/^(?:net\d+|hostname|nameserver|searchdomain)$/, 'VM.Config.Network'],
]
/** Given when a container is made and no part of its configuration. */
const OF_CREATION = /^(?:ostemplate|storage|password|ssh-public-keys|start|force|ignore-unpack-errors)$/

/** As `needsOfOption`, for containers: what is in none of the groups is a plain option. */
export function needsOfContainerOption(name: string, value: string, zoneOf: (bridge: string) => string): OptionNeeds {
  const rootOnly = { guest: [], elsewhere: [], rootOnly: true } as const
  if (/^dev\d+$/.test(name) || name === 'hookscript') return rootOnly
  if (name === 'features') return needsOfFeatures(value)
  // Root inside is root outside.
  if (name === 'unprivileged') return { guest: [], elsewhere: value === '0' ? [['/ Sys.Modify']] : [] }
  if (OF_CREATION.test(name)) return { guest: [], elsewhere: elsewhereOfCreation(name, value) }
  const privilege = GROUPS.find(([pattern]) => pattern.test(name))?.[1] ?? 'VM.Config.Options'
  if (privilege !== 'VM.Config.Disk')
    return {
      guest: [[privilege]],
      elsewhere: name.startsWith('net') ? bridgePaths(value, zoneOf).map((path) => [`${path} SDN.Use`]) : [],
    }
  const volume = parseProperties(value, 'volume').get('volume') ?? ''
  // A directory or device of the host.
  if (volume.startsWith('/')) return rootOnly
  const fresh = /^([^:/]+):\d+(?:\.\d+)?$/.exec(volume)?.[1]
  return { guest: [[privilege]], elsewhere: fresh === undefined ? [] : [[`/storage/${fresh} Datastore.AllocateSpace`]] }
}

function needsOfFeatures(value: string): OptionNeeds {
  const others = [...parseProperties(value, '').keys()].some((feature) => feature !== 'nesting')
  return others ? { guest: [], elsewhere: [], rootOnly: true } : { guest: [['VM.Allocate']], elsewhere: [] }
}

function elsewhereOfCreation(name: string, value: string): (readonly string[])[] {
  if (name === 'storage') return [[`/storage/${value} Datastore.AllocateSpace`]]
  return name === 'ostemplate' ? storageOf(value).map(sees) : []
}
