import type { HostItemOf } from '../../../model/host-item.ts'
import type { ItemFacts } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { armed, change, fileAsk, fileChanges, type ItemRules, put, restoreFile } from '../item.ts'

/**
 * Static addresses through the host's network manager. The host reverts the change unless croft confirms it: a cut
 * connection is back after 90 seconds. What croft once gave another manager is removed in the same change, or two
 * managers would own the interface.
 */
export const networkAddress: ItemRules<'network-address'> = {
  type: 'network-address',
  queues: ['single/network'],
  asks: (item) =>
    MANAGERS.map((manager) => fileAsk(pathOf(item, manager), manager === item.spec.manager ? textOf(item) : undefined)),
  diff: (item, seen) => [
    ...fileChanges(seen.file(pathOf(item)), textOf(item), { mode: 0o600 }),
    ...former(item, seen).map((manager) => change('manager', manager, item.spec.manager)),
  ],
  commands(item, seen) {
    const old = former(item, seen)
    const revert = [item.spec.manager, ...old].flatMap((manager) => asItWas(item, manager, seen) ?? [])
    return armed(nameOf(item), revert, [
      ...old.flatMap((manager) => [
        { do: 'remove', path: pathOf(item, manager) } as const,
        ...reload(item, manager, false),
      ]),
      ...ours(item),
      ...(item.spec.reach === undefined ? [] : [run('ping', '-c', '1', '-W', '10', '--', item.spec.reach)]),
    ])
  },
  undo(item, seen) {
    const back = asItWas(item, item.spec.manager, seen)
    return back === undefined ? undefined : armed(nameOf(item), ours(item), back)
  },
}

type AddressItem = HostItemOf<'network-address'>
type Manager = AddressItem['spec']['manager']

const MANAGERS: readonly Manager[] = ['networkmanager', 'netplan', 'ifupdown']
const nameOf = ({ spec }: AddressItem) => `network-${spec.interface}`

/** Returns other managers that still have a file of ours for this interface. */
function former(item: AddressItem, seen: ItemFacts): readonly Manager[] {
  return MANAGERS.filter(
    (manager) => manager !== item.spec.manager && seen.file(pathOf(item, manager)).kind !== 'absent',
  )
}

function ours(item: AddressItem): readonly Command[] {
  return [
    ...put(pathOf(item), textOf(item), { mode: 0o600 }),
    ...(item.spec.manager === 'netplan' ? [run('netplan', 'generate')] : []),
    ...reload(item, item.spec.manager, true),
  ]
}

function asItWas(item: AddressItem, manager: Manager, seen: ItemFacts): readonly Command[] | undefined {
  const path = pathOf(item, manager)
  const back = restoreFile(path, seen.file(path), manager === item.spec.manager ? textOf(item) : undefined)
  return back === undefined ? undefined : [...back, ...reload(item, manager, seen.file(path).kind !== 'absent')]
}

function pathOf({ spec }: AddressItem, manager: Manager = spec.manager): string {
  switch (manager) {
    case 'networkmanager':
      return `/etc/NetworkManager/system-connections/croft-${spec.interface}.nmconnection`
    case 'netplan':
      return `/etc/netplan/90-croft-${spec.interface}.yaml`
    case 'ifupdown':
      return `/etc/network/interfaces.d/croft-${spec.interface}`
  }
}

/** Makes the manager apply its files. `ours`: one of them is ours. */
function reload({ spec }: AddressItem, manager: Manager, ours: boolean): readonly Command[] {
  switch (manager) {
    case 'networkmanager': {
      // Reloading files changes no active interface: activate a profile, ours or the best match.
      const up = ours ? ['connection', 'up', `croft-${spec.interface}`] : ['device', 'connect', spec.interface]
      return [run('nmcli', 'connection', 'reload'), run('nmcli', '--wait', '30', ...up)]
    }
    case 'netplan':
      return [run('netplan', 'apply')]
    case 'ifupdown':
      return [
        run(
          'sh',
          '-c',
          'if command -v ifreload >/dev/null; then ifreload -a; else ifdown --force "$1"; ifup "$1"; fi',
          'sh',
          spec.interface,
        ),
      ]
  }
}

export function textOf(item: AddressItem): string {
  const { manager } = item.spec
  return manager === 'networkmanager' ? keyfile(item) : manager === 'netplan' ? netplan(item) : interfaces(item)
}

const isSix = (address: string) => address.includes(':')

function keyfile({ spec }: AddressItem): string {
  const part = (name: 'ipv4' | 'ipv6', six: boolean, gateway: string | undefined) => {
    const addresses = spec.addresses.filter((one) => isSix(one) === six)
    const dns = spec.dns.filter((one) => isSix(one) === six)
    return [
      `[${name}]`,
      `method=${addresses.length === 0 ? 'auto' : 'manual'}`,
      ...addresses.map(
        (address, index) =>
          `address${index + 1}=${address}${index === 0 && gateway !== undefined ? `,${gateway}` : ''}`,
      ),
      ...(dns.length === 0 ? [] : [`dns=${dns.join(';')};`]),
      '',
    ]
  }
  return [
    '[connection]',
    `id=croft-${spec.interface}`,
    'type=ethernet',
    `interface-name=${spec.interface}`,
    'autoconnect-priority=10',
    '',
    ...part('ipv4', false, spec.gateway4),
    ...part('ipv6', true, spec.gateway6),
  ].join('\n')
}

function netplan({ spec }: AddressItem): string {
  const routes = [
    ...(spec.gateway4 === undefined ? [] : [`        - {to: default, via: ${spec.gateway4}}`]),
    ...(spec.gateway6 === undefined ? [] : [`        - {to: "::/0", via: "${spec.gateway6}"}`]),
  ]
  return [
    'network:',
    '  version: 2',
    '  ethernets:',
    `    ${spec.interface}:`,
    '      addresses:',
    ...spec.addresses.map((address) => `        - "${address}"`),
    ...(routes.length === 0 ? [] : ['      routes:', ...routes]),
    ...(spec.dns.length === 0
      ? []
      : ['      nameservers:', `        addresses: [${spec.dns.map((one) => `"${one}"`).join(', ')}]`]),
    '',
  ].join('\n')
}

function interfaces({ spec }: AddressItem): string {
  const lines = [`auto ${spec.interface}`]
  for (const six of [false, true]) {
    const gateway = six ? spec.gateway6 : spec.gateway4
    spec.addresses
      .filter((one) => isSix(one) === six)
      .forEach((address, index) => {
        lines.push(`iface ${spec.interface} ${six ? 'inet6' : 'inet'} static`, `    address ${address}`)
        if (index === 0 && gateway !== undefined) lines.push(`    gateway ${gateway}`)
      })
  }
  if (spec.dns.length > 0) lines.push(`    dns-nameservers ${spec.dns.join(' ')}`)
  return `${lines.join('\n')}\n`
}
