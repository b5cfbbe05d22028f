/** Flags that K3s compares while a server joins, with their defaults. */
const COMPARED: Readonly<Record<string, string>> = {
  'cluster-domain': 'cluster.local',
  'disable-cloud-controller': 'false',
  'disable-helm-controller': 'false',
  'disable-network-policy': 'false',
  'secrets-encryption': 'false',
  'secrets-encryption-provider': 'aescbc',
  'embedded-registry': 'false',
  'flannel-backend': 'vxlan',
  'flannel-ipv6-masq': 'false',
  'flannel-external-ip': 'false',
  'egress-selector-mode': 'agent',
  'supervisor-metrics': 'false',
}

const RANGES: Readonly<Record<string, string>> = { 'cluster-cidr': '10.42.0.0/16', 'service-cidr': '10.43.0.0/16' }

type Flags = ReadonlyMap<string, readonly string[]>

/** The names under which K3s warns of each difference: flags by their names, addresses by the fields of its code. */
export function mismatches(own: Flags, theirs: Flags): readonly string[] {
  const found: string[] = []
  const [pods, services] = ['cluster-cidr', 'service-cidr'].map((flag) => differing(flag, own, theirs))
  if (services !== undefined) found.push(`ClusterDNSs.slice[0].slice[${services}]`)
  if (pods !== undefined) found.push(`ClusterIPRanges.slice[0].IP.slice[${pods}]`)
  if (services !== undefined) found.push(`ClusterDNS.slice[${services}]`)
  if (pods !== undefined) found.push(`ClusterIPRange.IP.slice[${pods}]`)
  for (const [flag, usual] of Object.entries(COMPARED)) {
    const text = (flags: Flags) => flags.get(flag)?.at(-1) ?? usual
    if (text(own) !== text(theirs)) found.push(flag)
  }
  if (services !== undefined)
    found.push(`ServiceIPRange.IP.slice[${services}]`, `ServiceIPRanges.slice[0].IP.slice[${services}]`)
  return found
}

/** Where the first byte of an address range differs: addresses are kept in sixteen bytes, IPv4 in the last four. */
function differing(flag: string, own: Flags, theirs: Flags): number | undefined {
  const [a, b] = [own, theirs].map((flags) => (flags.get(flag)?.join(',') || RANGES[flag] || '').split(',')[0] ?? '')
  if (a === b || a === undefined || b === undefined) return undefined
  if (a.includes(':') || b.includes(':')) return 0
  const at = a.split(/[./]/).findIndex((part, index) => part !== b.split(/[./]/)[index])
  return 12 + Math.max(0, Math.min(3, at))
}
