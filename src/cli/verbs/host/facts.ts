import { writeData } from '../../output.ts'
import { clean, cleanLines } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, EXIT, type Options } from '../../verb.ts'
import { FACTS, type HostFacts, readFacts } from './facts-program.ts'
import type { HostDeed } from './find.ts'

/** Shows the facts about a box. */
export function facts(runtime: Runtime, options: Options): HostDeed {
  return async (shell) => {
    const found = readFacts((await shell.run(['sh', '-c', FACTS], { signal: runtime.signal })).stdout)
    if (found === undefined) throw new CliError('The host gave no whole answer. Try again.')
    if (!(await writeData(runtime, options.output, found))) runtime.out.write(renderFacts(found))
    return { code: EXIT.ok, message: 'looked at it' }
  }
}

/** Disks with the names and serial numbers that a declaration needs, and cards. */
export function devices(runtime: Runtime, options: Options): HostDeed {
  return async (shell) => {
    const ran = await shell.run(['sh', '-c', FACTS], { signal: runtime.signal })
    const found = readFacts(ran.stdout)
    if (found === undefined) throw new CliError('The host gave no whole answer. Try again.')
    const usb = await shell.run(['sh', '-c', 'command -v lsusb >/dev/null && lsusb || :'], { signal: runtime.signal })
    const pci = await shell.run(['sh', '-c', 'command -v lspci >/dev/null && lspci -nn || :'], {
      signal: runtime.signal,
    })
    const list = (text: string) =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => clean(line))
    const data = { disks: found.disks, nics: found.nics, usb: list(usb.stdout), pci: list(pci.stdout) }
    if (!(await writeData(runtime, options.output, data))) {
      const disks = found.disks.map(
        (one) =>
          `  ${clean(one.name).padEnd(10)} ${String(one.gb).padStart(6)} GB  serial ${clean(one.serial)}  ${clean(one.id)}  ${clean(one.model)}`,
      )
      const nics = found.nics.map((one) => `  ${clean(one.name).padEnd(10)} ${clean(one.mac)}  ${clean(one.state)}`)
      runtime.out.write(
        [
          'Disks',
          ...disks,
          'Network',
          ...nics,
          'USB',
          ...data.usb.map((one) => `  ${one}`),
          'PCI',
          ...data.pci.map((one) => `  ${one}`),
          '',
        ].join('\n'),
      )
    }
    return { code: EXIT.ok, message: 'looked at its devices' }
  }
}

/** Lists the PCI devices that must be passed through together. */
const IOMMU =
  'for g in /sys/kernel/iommu_groups/*; do [ -d "$g/devices" ] || continue; for d in "$g"/devices/*; do ' +
  's=$(basename "$d"); k=-; [ -L "$d/driver" ] && k=$(basename "$(readlink "$d/driver")"); ' +
  'echo "group $(basename "$g")  $s  $(cut -c3- <"$d/vendor"):$(cut -c3- <"$d/device")  $k  ' +
  '$(command -v lspci >/dev/null && lspci -s "$s" | cut -d" " -f2-)"; done; done | sort -V'
const SMART =
  'command -v smartctl >/dev/null || { echo "smartctl is not installed: declare the package smartmontools" >&2; exit 3; }; ' +
  'for d in $(lsblk -dnr -o NAME,TYPE | sed -n "s/ disk$//p"); do echo "== $d"; smartctl -H -A "/dev/$d" | sed -n "5,60p"; done'
const POOLS =
  'if command -v zpool >/dev/null; then echo "== ZFS"; zpool list; zpool status -x; fi; ' +
  'if command -v btrfs >/dev/null; then echo "== btrfs"; btrfs filesystem show 2>/dev/null; fi; ' +
  'if [ -r /proc/mdstat ]; then echo "== md"; cat /proc/mdstat; fi; if command -v vgs >/dev/null; then echo "== LVM"; vgs; lvs; fi; :'

export const iommu = (runtime: Runtime): HostDeed =>
  shown(runtime, IOMMU, 'The IOMMU is off, or this host has none.', 'looked at its IOMMU groups')
export const smart = (runtime: Runtime): HostDeed =>
  shown(runtime, SMART, 'There are no disks.', 'asked its disks how they are')
export const pools = (runtime: Runtime): HostDeed => shown(runtime, POOLS, 'There are no pools.', 'looked at its pools')

function shown(runtime: Runtime, program: string, empty: string, message: string): HostDeed {
  return async (shell) => {
    const ran = await shell.run(['sh', '-c', program], { signal: runtime.signal })
    runtime.out.write(cleanLines(ran.stdout, Number.POSITIVE_INFINITY))
    if (ran.code !== 0) {
      runtime.err.write(cleanLines(ran.stderr, Number.POSITIVE_INFINITY))
      return { code: EXIT.failed, message: `${message}: ${clean(ran.stderr.trim())}` }
    }
    if (ran.stdout.trim() === '') runtime.out.write(`${empty}\n`)
    return { code: EXIT.ok, message }
  }
}

function renderFacts(found: HostFacts): string {
  const rows: [string, string][] = [
    ['Name', found.hostname],
    ['System', `${found.os}, kernel ${found.kernel}, ${found.arch}`],
    ['Model', found.model ?? '-'],
    ['Processor', `${found.cpus} × ${found.cpu ?? '?'}; load ${found.load}`],
    ['Memory', `${found.memoryMb} MiB, ${found.freeMb} free`],
    ['Up', `${Math.floor(found.uptimeSeconds / 3600)} h`],
    ...found.disks.map((one): [string, string] => [
      'Disk',
      `${one.name} ${one.gb} GB ${one.model} (serial ${one.serial})`,
    ]),
    ...found.nics.map((one): [string, string] => [
      'Network',
      `${one.name} ${one.mac} ${one.state} ${one.addresses.join(' ')}`,
    ]),
    ...found.temperatures.map((one): [string, string] => ['Temperature', `${one.sensor} ${one.celsius.toFixed(1)} °C`]),
    ...(found.watts === undefined ? [] : [['Power', `${found.watts.toFixed(1)} W`] as [string, string]]),
  ]
  return rows.map(([name, value]) => `${name.padEnd(12)} ${clean(value)}\n`).join('')
}
