import type { TreeMap } from '../../model/vm.ts'
import {
  anything,
  type ConfigShape,
  either,
  flag,
  list,
  listOrEmpty,
  map,
  mapOf,
  misfits,
  number,
  refused,
  type SeedProblem,
  text,
  words,
} from '../shape.ts'

const ROUTES = 'write routes: [{to: 0.0.0.0/0, via: …}]'

const route = map(
  {
    to: text,
    via: text,
    from: text,
    metric: number,
    'on-link': flag,
    type: text,
    scope: text,
    table: number,
    mtu: number,
  },
  ['to'],
)

const addressing = {
  addresses: listOrEmpty(either(text, mapOf(anything))),
  dhcp4: flag,
  dhcp6: flag,
  'dhcp4-overrides': mapOf(anything),
  'dhcp6-overrides': mapOf(anything),
  'dhcp-identifier': words('mac', 'duid'),
  'accept-ra': flag,
  'ipv6-privacy': flag,
  'link-local': listOrEmpty(words('ipv4', 'ipv6')),
  routes: list(route),
  'routing-policy': list(anything),
  nameservers: map({ addresses: listOrEmpty(text), search: listOrEmpty(text) }),
  mtu: number,
  optional: flag,
  macaddress: text,
  gateway4: refused(ROUTES),
  gateway6: refused('write routes: [{to: "::/0", via: …}]'),
}

const ethernet = map(
  {
    ...addressing,
    match: map({ macaddress: text }, ['macaddress']),
    'set-name': refused('a card is found by its address and keeps the name that the guest gives it'),
    wakeonlan: flag,
  },
  // Without it the key would be read as the name of an interface.
  ['match'],
)

/** Version 2 of cloud-init's network configuration, as far as croft writes it: cards by address, routes by target. */
const networkShape: ConfigShape = map(
  {
    version: { is: 'number' },
    renderer: refused('the guest chooses what applies it'),
    ethernets: mapOf(ethernet),
    vlans: mapOf(map({ ...addressing, id: number, link: text }, ['id', 'link'])),
    bonds: mapOf(anything),
    bridges: mapOf(anything),
  },
  ['version', 'ethernets'],
)

/** Returns what cloud-init would refuse or misread in a network-config by croft. */
export function checkNetworkConfig(config: TreeMap): readonly SeedProblem[] {
  const problems = misfits(config, networkShape)
  if (config.version === 2 || problems.some(({ path }) => path[0] === 'version')) return problems
  return [...problems, { path: ['version'], message: 'version is not 2' }]
}
