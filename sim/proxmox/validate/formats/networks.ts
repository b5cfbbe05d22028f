import { inlineKeys } from '../shape.ts'
import { isAddress } from './addresses.ts'
import { type Formats, matching } from './format.ts'

/** Software-defined networks and VLANs. */
export const NETWORK_FORMATS: Formats = {
  'pve-sdn-bgp-rt': matching(/^\d+:\d+$/, () => 'value does not look like a valid bgp route-target'),
  'pve-sdn-isis-net': matching(
    /^[a-fA-F0-9]{2}(?:\.[a-fA-F0-9]{4}){3,9}\.[a-fA-F0-9]{2}$/,
    () => 'value does not look like a valid isis net',
  ),
  'pve-sdn-fabric-id': {
    judge: (text) =>
      /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,6}[a-zA-Z0-9])?$/.test(text)
        ? undefined
        : `Fabric ID '${text}' contains illegal characters`,
  },
  'pve-sdn-prefix-list-id': matching(
    /^[a-zA-Z0-9][a-zA-Z0-9-]{0,30}[a-zA-Z0-9]$/,
    (text) => `prefix list ID '${text}' contains illegal characters`,
  ),
  'pve-sdn-route-map-id': matching(
    /^[a-zA-Z0-9][a-zA-Z0-9-]{0,30}[a-zA-Z0-9]$/,
    (text) => `route map ID '${text}' contains illegal characters`,
  ),
  'pve-sdn-subnet-id': {
    judge: (text) => {
      const [address = '', length = ''] = text
        .replace(/^[^-]*-(?=.*-\d+$)/, '')
        .replace(/-(\d+)$/, '/$1')
        .split('/')
      return isAddress(address) && /^\d+$/.test(length) ? undefined : 'value does not look like a valid CIDR network'
    },
  },
  'pve-sdn-dhcp-range': {
    keys: inlineKeys({ 'start-address': { as: 'ip' }, 'end-address': { as: 'ip' } }),
  },
  'pve-vlan-id-or-range': { judge: vlanError },
}

const HIGHEST_VLAN = 4094

function vlanError(text: string): string | undefined {
  const tags = /^(\d+)(?:-(\d+))?$/.exec(text)
  if (!tags) return `invalid VLAN configuration '${text}'`
  const [, low = '', high] = tags
  for (const tag of high === undefined ? [low] : [low, high]) {
    if (Number(tag) < 2 || Number(tag) > HIGHEST_VLAN) return `invalid VLAN tag '${tag}'`
  }
  return high !== undefined && Number(low) >= Number(high)
    ? `VLAN range must go from lower to higher tag '${text}'`
    : undefined
}
