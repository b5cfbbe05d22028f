import { defined } from '../../../lib/defined.ts'
import { countOf } from '../foreign.ts'
import { humanTags, splitDescription, splitTags } from '../marks.ts'
import { parseProperties } from '../property-string.ts'
import { startup } from '../vm/start-at-boot.ts'
import { block, blockOf, type ConfigReading, some, unless } from './reading.ts'

const DEFAULT_MB = 512

/** Imports processor, memory, firmware and all other single values. */
export function importBasics(from: ConfigReading) {
  return {
    description: description(from),
    tags: some(humanTags(splitTags(from.text('tags')))),
    onBoot: unless(false, from.flag('onboot')),
    startup: importStartup(from),
    protection: unless(false, from.flag('protection')),
    cpu: cpu(from),
    memory: memory(from),
    machine: unless('pc', from.text('machine')),
    bios: unless('seabios', from.text('bios')),
    operatingSystem: block({ type: unless('other', from.text('ostype')) }),
    scsiHardware: unless('lsi', from.text('scsihw')),
    acpi: unless(true, from.flag('acpi')),
    hotplug: hotplug(from.text('hotplug')),
    tabletDevice: unless(true, from.flag('tablet')),
    keyboardLayout: from.text('keyboard'),
    hookScriptFileId: from.text('hookscript'),
    agent: agent(from),
    vga: vga(from),
    bootOrder: bootOrder(from),
  }
}

/** Characters that a manifest cannot contain. */
const UNWRITABLE = /[\ufeff\ufffe\uffff]/

function description(from: ConfigReading): string | undefined {
  const { human } = splitDescription(from.text('description'))
  if (!UNWRITABLE.test(human) && human.isWellFormed()) return unless('', human)
  from.leave('description')
  return undefined
}

function cpu(from: ConfigReading) {
  const model = from.properties('cpu', 'cputype')
  const flags = model?.text('flags')?.split(';') ?? []
  return block({
    cores: unless(1, from.count('cores')),
    sockets: unless(1, from.count('sockets')),
    type: unless('kvm64', model?.text('cputype')),
    flags: some(flags.filter((flag) => flag !== '').sort()),
    units: from.count('cpuunits'),
    limit: unless(0, from.count('cpulimit')),
    numa: unless(false, from.flag('numa')),
    hotplugged: unless(0, from.count('vcpus')),
    affinity: unless('', from.text('affinity')),
    architecture: unless('x86_64', from.text('arch')),
  })
}

function memory(from: ConfigReading) {
  const text = from.text('memory')
  // `2048`, or on newer versions sometimes `current=2048`.
  const dedicated =
    (text === undefined ? undefined : countOf(parseProperties(text, 'current').get('current'))) ?? DEFAULT_MB
  const shared = from.properties('ivshmem', 'size')
  shared?.ignore('name')
  return block({
    dedicated: unless(DEFAULT_MB, dedicated),
    floating: unless(dedicated, from.count('balloon')),
    shared: shared?.count('size'),
    hugepages: from.text('hugepages'),
    keepHugepages: unless(false, from.flag('keephugepages')),
  })
}

/** Imports order and delays at the host's start. */
export function importStartup(from: ConfigReading) {
  return blockOf(from, startup.shape, { upSeconds: 'upDelay', downSeconds: 'downDelay' })
}

/** `1` means the default three. */
function hotplug(text: string | undefined): string | undefined {
  const features = text?.split(/[;,\s]+/).filter((feature) => feature !== '')
  return unless('1', unless('disk,network,usb', features?.sort().join(',')))
}

/** The string's other parts matter only with an agent. */
function agent(from: ConfigReading) {
  const parts = from.properties('agent', 'enabled')
  if (parts === undefined) return undefined
  const enabled = parts.flag('enabled') === true
  const trim = unless(false, parts.flag('fstrim_cloned_disks'))
  const type = unless('virtio', parts.text('type'))
  return enabled ? block({ enabled, trim, type }) : undefined
}

function vga(from: ConfigReading) {
  const parts = from.properties('vga', 'type')
  if (parts === undefined) return undefined
  return block({
    type: unless('std', parts.text('type')),
    memory: parts.count('memory'),
    clipboard: parts.text('clipboard'),
  })
}

/** The old form, in letters, stays as it is. */
function bootOrder(from: ConfigReading): readonly string[] | undefined {
  const parts = from.properties('boot', 'legacy')
  return some((parts?.text('order') ?? '').split(';').filter((device) => device !== ''))
}

/** Serial ports are identified by position, so a gap ends the list. */
export function importSerial(from: ConfigReading) {
  return positional(from, 'serial', (key) => defined({ device: from.text(key) }))
}

/** Returns devices whose list position is their number. Those after a gap are omitted. */
export function positional<T>(from: ConfigReading, word: string, read: (key: string) => T): readonly T[] | undefined {
  const slots = from.keys.filter((key) => key.startsWith(word) && /^\d+$/.test(key.slice(word.length)))
  const found: T[] = []
  for (const [at, key] of slots.entries()) {
    if (key === `${word}${at}`) found.push(read(key))
    else from.leave(key)
  }
  return some(found)
}
