import { defined } from '../../../lib/defined.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import { powerOf } from '../../guests.ts'
import type { ImportedGuest } from '../../port.ts'
import { features, passedDevices } from '../lxc/options.ts'
import { mounts, VOLUME_PARTS } from '../lxc/volumes.ts'
import { humanTags, splitDescription, splitTags } from '../marks.ts'
import { parseSize } from '../property-string.ts'
import { storageOf } from '../vm/disks.ts'
import { importStartup, positional } from './basics.ts'
import {
  type BlockFields,
  block,
  blockOf,
  type ConfigReading,
  type PartReading,
  partsOf,
  readingOf,
  some,
  unless,
} from './reading.ts'

const GIB = 2 ** 30

/** Returns a closely read container in the provider's terms: values that differ from Proxmox's defaults. */
export function importContainer(observed: ObservedResource): ImportedGuest | undefined {
  const { close } = observed
  if (observed.type !== 'container' || close === undefined) return undefined
  const from = readingOf(close.config)
  const isTemplate = from.flag('template') === true
  const power = powerOf(observed)
  const cards = importCards(from)
  const fields = defined({
    nodeName: observed.host,
    poolId: observed.pool,
    template: isTemplate ? true : undefined,
    started: !isTemplate && power === 'stopped' ? false : undefined,
    description: unless('', splitDescription(from.text('description')).human),
    tags: some(humanTags(splitTags(from.text('tags')))),
    // Unlike for a VM, the provider's default differs from Proxmox's; an absent one is not compared.
    startOnBoot: unless(false, from.flag('onboot')),
    startup: importStartup(from),
    protection: unless(false, from.flag('protection')),
    unprivileged: unless(false, from.flag('unprivileged')),
    hookScriptFileId: from.text('hookscript'),
    console: block({
      enabled: unless(true, from.flag('console')),
      ttyCount: unless(2, from.count('tty')),
      type: unless('tty', from.text('cmode')),
    }),
    cpu: block({
      architecture: unless('amd64', from.text('arch')),
      cores: unless(0, from.count('cores')),
      limit: unless(0, from.count('cpulimit')),
      units: from.count('cpuunits'),
    }),
    memory: block({ dedicated: unless(512, from.count('memory')), swap: unless(512, from.count('swap')) }),
    operatingSystem: block({ type: from.text('ostype') }),
    features: blockOf(from, features.shape),
    disk: rootDisk(from),
    mountPoint: importMounts(from),
    networkInterface: cards?.map(({ card }) => card),
    devicePassthrough: positional(from, 'dev', (key) =>
      defined(partsOf(from.properties(key, 'path'), passedDevices.shape.parts)),
    ),
    environmentVariables: environment(from),
    initialization: block({
      hostname: from.text('hostname'),
      entrypoint: unless('/sbin/init', from.text('entrypoint')),
      dns: block({ domain: from.text('searchdomain'), servers: servers(from.text('nameserver')) }),
      ipConfig: ipConfig(cards?.map(({ address }) => address) ?? []),
    }),
  })
  if ((close.pending ?? []).some((key) => key !== 'digest'))
    from.note('changes wait for a restart; croft would make it, once one of them is declared')
  return { kind: 'EnvironmentContainer', fields, unmanaged: from.left(), notes: from.notes() }
}

function rootDisk(from: ConfigReading) {
  const parts = from.properties('rootfs', 'volume')
  if (parts === undefined) return undefined
  const datastoreId = storageOf(parts.text('volume'))
  if (datastoreId === undefined) {
    from.leave('rootfs')
    return undefined
  }
  parts.ignore('ro', 'shared')
  return block({ datastoreId, size: wholeGib(parts), ...partsOf(parts, VOLUME_PARTS) })
}

/** A size that is no whole number of GiB is not declared. */
function wholeGib(parts: PartReading): number | undefined {
  const bytes = parseSize(parts.text('size')) ?? 0
  return bytes > 0 && bytes % GIB === 0 ? bytes / GIB : undefined
}

/** Imports a mount with its volume's name: without that name it would be created as a new volume. */
function importMounts(from: ConfigReading) {
  return positional(from, 'mp', (key) => {
    const parts = from.properties(key, 'volume')
    parts?.ignore('size')
    return defined(partsOf(parts, mounts.shape.parts, { source: 'volume' }))
  })
}

function importCards(from: ConfigReading) {
  return positional(from, 'net', (key) => {
    const parts = from.properties(key, '')
    parts?.ignore('type')
    // Without it the provider would use the most common bridge.
    if (parts?.flag('link_down') === true) from.note(`${key} is disconnected, and stays so`)
    const card = defined({
      name: parts?.text('name'),
      bridge: parts?.text('bridge'),
      macAddress: parts?.text('hwaddr'),
      vlanId: parts?.count('tag'),
      firewall: unless(false, parts?.flag('firewall')),
      mtu: parts?.count('mtu'),
      rateLimit: parts?.count('rate'),
      hostManaged: unless(false, parts?.flag('host-managed')),
    })
    const ipv4 = block({ address: parts?.text('ip'), gateway: parts?.text('gw') })
    const ipv6 = block({ address: parts?.text('ip6'), gateway: parts?.text('gw6') })
    return { card, address: defined({ ipv4, ipv6 }) }
  })
}

/** By card position; empty ones at the end are omitted. */
function ipConfig(addresses: readonly BlockFields[]): readonly BlockFields[] | undefined {
  const last = addresses.findLastIndex((address) => Object.keys(address).length > 0)
  return some(addresses.slice(0, last + 1))
}

function environment(from: ConfigReading): BlockFields | undefined {
  const pairs = (from.text('env') ?? '').split('\0').flatMap((text): [string, string][] => {
    const equals = text.indexOf('=')
    return equals <= 0 ? [] : [[text.slice(0, equals), text.slice(equals + 1)]]
  })
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}

function servers(text: string | undefined): readonly string[] | undefined {
  return some((text ?? '').split(/[\s,;]+/).filter((server) => server !== ''))
}
