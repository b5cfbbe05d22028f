import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import type { ItemFacts } from '../ask.ts'
import { change, type ItemRules, ownFile } from '../item.ts'

/**
 * PCI devices reserved for guests. Checks their groups first: a guest gets a whole group, so a disk controller in it
 * would go along.
 */
export const vfio: ItemRules<'vfio'> = {
  type: 'vfio',
  queues: ['single/boot'],
  asks: (item) => [
    ...filesOf(item).map((one) => one.ask),
    { ask: 'run', argv: ['sh', '-c', GROUPS] },
    { ask: 'run', argv: ['sh', '-c', BOUND] },
    { ask: 'run', argv: ['sh', '-c', IN_USE] },
  ],
  diff(item, seen) {
    const { spec } = item
    const devices = devicesIn(seen)
    const mine = devices.filter((one) => spec.ids.includes(one.id))
    const missing = spec.ids.filter((id) => !devices.some((one) => one.id === id))
    if (missing.length > 0)
      return [
        blocked(
          'ids',
          `no device with the id ${missing.join(', ')} is in this host`,
          'correct the ids; croft host iommu shows them',
        ),
      ]
    if (mine.some((one) => one.group === ''))
      return [
        blocked(
          'iommu',
          'the IOMMU is off, so nothing can be given to a guest',
          'declare kernel.args intel_iommu=on (or amd_iommu=on) and iommu=pt, and switch it on in the firmware',
        ),
      ]
    const alongside = devices.filter(
      (one) => mine.some((own) => own.group === one.group) && !spec.ids.includes(one.id) && !isBridge(one.class),
    )
    if (alongside.length > 0)
      return [
        blocked(
          'group',
          `${alongside.map((one) => `${one.slot} (${one.id})`).join(', ')} would go along: the group is given as a whole`,
          'name these ids too, or plug the card in elsewhere',
        ),
      ]
    const used = mine.flatMap(({ slot, id }) => usesOf(slot, seen).map((use) => `${use} on ${slot} (${id})`))
    if (used.length > 0)
      return [
        blocked(
          'use',
          `the host itself uses ${used.join(', ')}: after a restart it would be without`,
          'take it out of use on the host, or name the ids of another card; every card of an id goes',
        ),
      ]
    const changes: Change[] = filesOf(item).flatMap((one) => one.changes(seen))
    if (changes.length > 0) return [...changes, change('bound', '', 'after a restart', 'restart')]
    const bound = seen.run('sh', '-c', BOUND).out
    const unbound = mine.map(({ slot }) => slot).filter((slot) => !bound.includes(`${slot} vfio-pci`))
    return unbound.length === 0 ? [] : [change('bound', unbound, 'vfio-pci', 'restart')]
  },
  commands: (item) => [...filesOf(item).flatMap((one) => one.put), REBUILD],
  undo(item, seen) {
    const back = filesOf(item).map((one) => one.undo(seen))
    return back.some((one) => one === undefined) ? undefined : [...back.flatMap((one) => one ?? []), REBUILD]
  },
}

const REBUILD = { do: 'run', argv: ['update-initramfs', '-u', '-k', 'all'], timeoutMs: 600_000 } as const
/** slot, vendor:device, class and group of every PCI device. */
const GROUPS =
  'for d in /sys/bus/pci/devices/*; do [ -e "$d/vendor" ] || continue; g=; [ -L "$d/iommu_group" ] && g=$(basename "$(readlink "$d/iommu_group")"); ' +
  'echo "$(basename "$d") $(cut -c3- <"$d/vendor"):$(cut -c3- <"$d/device") $(cut -c3- <"$d/class") $g"; done'
const BOUND =
  'for d in /sys/bus/pci/devices/*; do [ -L "$d/driver" ] && echo "$(basename "$d") $(basename "$(readlink "$d/driver")")"; done; :'

/**
 * What the host uses, with the path of its device below /sys: network cards that are up, and disks that are mounted, swap,
 * in a pool or below another device.
 */
const IN_USE =
  'mounted="$(cat /proc/mounts /proc/swaps) $(zpool status -LP 2>/dev/null)"; ' +
  'for d in /sys/class/net/*; do [ "$(cat "$d/operstate" 2>/dev/null)" = up ] && [ -e "$d/device" ] && echo "$(basename "$d") $(readlink -f "$d/device")"; done; ' +
  'for d in /sys/class/block/*; do n=$(basename "$d"); ' +
  'case "$mounted " in *"/dev/$n "*) ;; *) [ -n "$(ls "$d/holders" 2>/dev/null)" ] || continue ;; esac; ' +
  'echo "$n $(readlink -f "$d")"; done; :'

function usesOf(slot: string, seen: ItemFacts): readonly string[] {
  const lines = seen.run('sh', '-c', IN_USE).out.split('\n')
  return lines.flatMap((line) => (`${line}/`.includes(`/${slot}/`) ? [line.slice(0, line.indexOf(' '))] : []))
}

function devicesIn(seen: ItemFacts) {
  return seen
    .run('sh', '-c', GROUPS)
    .out.split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [slot = '', id = '', kind = '', group = ''] = line.split(' ')
      return { slot, id, class: kind, group }
    })
}

/** Bridges stay with the host in any group. */
function isBridge(kind: string): boolean {
  return kind.startsWith('0604') || kind.startsWith('0600')
}

function blocked(path: string, message: string, allow: string): Change {
  return { ...change(path, null, null, 'restart'), blocked: { message, allow } }
}

function filesOf({ spec }: HostItemOf<'vfio'>) {
  const lines = [
    `options vfio-pci ids=${spec.ids.join(',')} disable_vga=1`,
    ...spec.blacklist.map((name) => `blacklist ${name}`),
    ...spec.blacklist.map((name) => `softdep ${name} pre: vfio-pci`),
    '',
  ]
  return [
    ownFile('/etc/modprobe.d/croft-vfio.conf', lines.join('\n')),
    ownFile('/etc/modules-load.d/croft-vfio.conf', 'vfio\nvfio_iommu_type1\nvfio_pci\n'),
  ]
}
