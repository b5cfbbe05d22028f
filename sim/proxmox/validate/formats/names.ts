import { type Formats, matching } from './format.ts'

const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'

const DNS_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
const NODE_NAME = new RegExp(`^${LABEL}$`)

export function isDnsName(text: string): boolean {
  return DNS_NAME.test(text)
}

/** What things are called: nodes, guests, configuration entries, tags, interfaces. */
export const NAME_FORMATS: Formats = {
  'pve-node': matching(NODE_NAME, () => 'value does not look like a valid node name'),
  'pve-vmid': matching(/^[1-9][0-9]{2,8}$/, () => 'value does not look like a valid VM ID'),
  'pve-configid': matching(/^[a-z][a-z0-9_-]+$/i, (text) => `invalid configuration ID '${text}'`),
  'dns-name': { judge: (text) => (isDnsName(text) ? undefined : 'value does not look like a valid DNS name') },
  'pve-tag': matching(/^[a-z0-9_][a-z0-9_\-+.]*$/i, () => 'invalid characters in tag'),
  'pve-iface': { judge: (text) => interfaceNameError(text) },
  'pve-bridge-id': matching(/^[-_.\w\d]+$/, (text) => `invalid bridge ID '${text}'`),
  'pve-replication-job-id': { judge: replicationJobError },
  'pve-ha-resource-id': matching(/^[a-z]+:\S+$/i, () => 'value does not look like a valid ha resource id'),
  'pve-ha-resource-or-vm-id': matching(
    /^(?:[a-z]+:\S+|\d+)$/i,
    () => 'value does not look like a valid ha resource id',
  ),
  'pve-ha-node': matching(new RegExp(`^${LABEL}(?::\\d+)?$`), () => 'value does not look like a valid ha node'),
  'pve-poolid': { judge: poolError },
  'pve-acme-domain': matching(
    /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)+$/i,
    (text) => `value '${text}' does not look like a valid domain name!`,
  ),
  'pve-acme-alias': matching(
    /^[a-z0-9_][a-z0-9_-]*(?:\.[a-z0-9_][a-z0-9_-]*)+$/i,
    (text) => `value '${text}' does not look like a valid alias name!`,
  ),
}

function interfaceNameError(text: string): string | undefined {
  const right = /^[a-zA-Z][a-zA-Z0-9_]{1,20}(?:[:.]\d+)?$/.test(text) && text.length >= 2
  return right ? undefined : `invalid network interface name '${text}'`
}

function replicationJobError(text: string): string | undefined {
  const guest = /^(\d+)-\d+$/.exec(text)?.[1]
  if (guest !== undefined && Number(guest) >= 100) return undefined
  return `invalid replication job id '${text}'${guest === undefined ? '' : ' (guest IDs < 100 are reserved)'}`
}

/** Pools may stand in one another, three deep. */
function poolError(text: string): string | undefined {
  const levels = text.replace(/\/+$/, '').split('/').length
  if (levels > 3) return `pool name '${text}' nested too deeply (max levels = 3)`
  const right = text.split('/').every((part) => /^[A-Za-z0-9._-]+$/.test(part))
  return right ? undefined : `pool name '${text}' contains invalid characters`
}
