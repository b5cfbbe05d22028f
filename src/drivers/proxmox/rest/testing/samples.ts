import type { Definition, Field, SettingSpec, SettingValue } from '../../../../model/rest.ts'
import { valueText } from '../../../../proxmox/value-text.ts'
import { OTHER_CERTIFICATE } from './certificate.ts'

type Values = Readonly<Record<string, SettingValue>>

/** Returns the setting of a definition's own example. */
export function exampleOf(definition: Definition): SettingSpec {
  const { id, host, vmid, user, vnet, ...fields } = definition.example as Record<string, SettingValue>
  const scope: Record<string, string> = {}
  if (vmid !== undefined) scope.vmid = valueText(vmid)
  if (user !== undefined && definition.scope?.includes('user')) scope.user = valueText(user)
  if (vnet !== undefined) scope.vnet = valueText(vnet)
  const own = definition.scope?.includes('user') || user === undefined ? fields : { ...fields, user }
  const { identity } = definition
  const name =
    identity === undefined
      ? valueText(id ?? definition.exampleName ?? definition.name)
      : 'constant' in identity
        ? identity.constant
        : identity.fields
            .map((one) => valueText(own[one.split('|').find((part) => own[part] !== undefined) ?? '']))
            .join(identity.join)
  const scoped = definition.scope?.some((one) => one.startsWith('host')) === true
  return {
    definition: definition.name,
    id: name,
    ...(scoped && host !== undefined ? { host: valueText(host) } : {}),
    ...(Object.keys(scope).length === 0 ? {} : { scope }),
    fields: scoped || host === undefined ? own : { ...own, host },
  }
}

/** Returns another valid value for a field; undefined if only one makes sense in the example. */
export function anotherValue(
  definition: string,
  name: string,
  field: Field,
  now: SettingValue | undefined,
): SettingValue | undefined {
  const special = SPECIAL[`${definition}.${name}`] ?? SPECIAL[name]
  if (special !== undefined) return same(special, now) ? undefined : special
  if (field.choices !== undefined) return field.choices.find((choice) => choice !== (now ?? field.absent))
  switch (field.type) {
    case 'flag':
      return !(now ?? field.absent ?? false)
    case 'number':
      return now === undefined
        ? Math.max(field.min ?? 1, 1) + (field.absent === Math.max(field.min ?? 1, 1) ? 1 : 0)
        : (now as number) > (field.min ?? 0)
          ? (now as number) - 1
          : (now as number) + 1
    case 'prose':
      return 'Something else, in words'
    case 'text':
      return 'other'
    case 'list':
    case 'repeated':
      return ['one', 'two']
    case 'seconds':
      return '2031-05-05T00:00:00Z'
    case 'properties':
      return oneBlock(field)
    case 'blocks':
    case 'entries':
      return [oneBlock(field)]
    case 'lines':
      return { KEY: 'value' }
    default:
      return undefined
  }
}

function oneBlock(field: Field): Values {
  const parts = Object.entries(field.parts ?? {}).filter(([, part]) => part.required === true)
  const chosen = parts.length > 0 ? parts : Object.entries(field.parts ?? {}).slice(-1)
  return Object.fromEntries(
    chosen.flatMap(([name, part]) => {
      const value = anotherValue('', name, part, undefined)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function same(one: SettingValue, other: SettingValue | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Fields with a restricted form. */
const SPECIAL: Readonly<Record<string, SettingValue>> = {
  email: 'else@example.com',
  privileges: ['VM.Audit', 'VM.Console', 'Sys.Audit'],
  'acl.path': '/vms/4711',
  'acl.token': 'ann@pve!ci',
  'acl.user': 'ann@pve',
  server1: '10.1.1.1',
  server2: '10.1.1.2',
  baseDn: 'dc=other',
  userAttr: 'sam',
  syncAttributes: 'email=mail',
  tfa: 'type=oath',
  removeVanished: ['acl', 'entry'],
  content: ['backup', 'images'],
  hosts: ['pumped-piglet', 'fun-bedbug'],
  'storage.path': '/srv/other',
  server: '10.1.1.9',
  'storage.export': '/srv/export',
  subdir: '/sub',
  options: 'vers=4.2,soft',
  fingerprint: Array.from({ length: 32 }, () => 'ab').join(':'),
  portal: '10.1.1.8',
  base: 'local:vm-1-disk-0',
  blocksize: '8k',
  mountpoint: '/mnt/x',
  monHost: ['10.1.1.5', '10.1.1.6'],
  zfsBasePath: '/dev/zvol',
  saferemoveStepsize: 8,
  contentDirs: { iso: 'my-isos' },
  schedule: 'sun 04:00',
  exclude: ['101', '102'],
  guests: ['103', '104'],
  excludePath: ['/tmp/?*', '/var/tmp/?*'],
  mailTo: ['a@example.com', 'b@example.com'],
  performance: { maxWorkers: 4 },
  address: '10.9.0.2/24',
  gateway: '10.9.0.254',
  address6: 'fd00::2/64',
  gateway6: 'fd00::1',
  'sdn-subnet.gateway': '10.5.0.9',
  ports: ['eno3', 'eno4'],
  vids: ['10', '20-30'],
  interfaces: ['eno3', 'eno4'],
  'bond.mode': 'balance-xor',
  peers: ['10.1.1.1', '10.1.1.2'],
  mac: 'bc:24:11:00:00:99',
  dnsZone: 'lab.test',
  rtImport: ['65000:1'],
  exitNodes: ['fun-bedbug'],
  exitnodesPrimary: 'fun-bedbug',
  dnsZonePrefix: 'apps',
  dhcpDnsServer: '10.5.0.2',
  dhcpRanges: [
    { startAddress: '10.5.0.10', endAddress: '10.5.0.20' },
    { startAddress: '10.5.0.30', endAddress: '10.5.0.40' },
  ],
  logRateLimit: { enabled: false, rate: '1/minute' },
  rules: [
    { action: 'DROP', type: 'out', protocol: 'udp', destinationPort: '53', enabled: false, comment: 'no names' },
    { group: 'other' },
    { action: 'ACCEPT', protocol: 'tcp', destinationPort: '80,443', comment: 'web' },
  ],
  'firewall-group.rules': [
    { action: 'DROP', type: 'out', protocol: 'udp', destinationPort: '53', comment: 'no names' },
    { action: 'ACCEPT', protocol: 'tcp', destinationPort: '9100', source: '10.0.0.0/24' },
  ],
  cidr: '10.3.0.0/24',
  entries: [
    { cidr: '10.4.0.0/16', comment: 'wide' },
    { cidr: '192.168.4.66/32', comment: 'narrow' },
  ],
  'hosts.entries': [{ address: '127.0.0.1', hostnames: ['localhost'] }],
  'ha-group.hosts': ['fun-bedbug:3', 'still-fawn'],
  'ha-rule.resources': ['vm:109', 'vm:108', 'vm:114'],
  'pci-mapping.devices': [
    { host: 'still-fawn', path: '0000:02:00.0', id: '10de:2485', subsystemId: '10de:0001', iommuGroup: 3 },
    { host: 'pumped-piglet', path: '0000:01:00.0', id: '10de:2484' },
  ],
  'usb-mapping.devices': [{ host: 'fun-bedbug', id: '18d1:9302', path: '1-2' }],
  domain: 'lan.test',
  servers: ['9.9.9.9', '1.1.1.1', '8.8.8.8'],
  timeZone: 'UTC',
  wakeOnLan: { mac: 'bc:24:11:00:00:18', bindInterface: 'vmbr0', broadcastAddress: '10.0.0.255' },
  acme: { account: 'default', domains: ['a.example.com', 'b.example.com'] },
  acmedomain0: { domain: 'h.example.com', plugin: 'cloudflare' },
  acmedomain1: { domain: 'i.example.com' },
  acmedomain2: { domain: 'c.example.com' },
  acmedomain3: { domain: 'd.example.com' },
  acmedomain4: { domain: 'e.example.com' },
  acmedomain5: { domain: 'f.example.com', alias: 'g.example.com' },
  certificate: OTHER_CERTIFICATE,
  keyboard: 'fr',
  language: 'fr',
  emailFrom: 'pve@example.com',
  httpProxy: 'http://proxy:3128',
  macPrefix: 'BC:24:12',
  registeredTags: ['prod', 'web', 'k3s'],
  nextId: { lower: 700 },
  migration: { type: 'insecure' },
  replication: { type: 'secure', network: '10.0.0.0/24' },
  tagStyle: { caseSensitive: true, colorMap: 'prod:ff0000:ffffff;dev:00ff00', ordering: 'config', shape: 'circle' },
  userTagAccess: { userAllow: 'list', userAllowList: ['b', 'a'] },
  bandwidth: { migration: 1000, clone: 500 },
  retention: { keepLast: 5, keepMonthly: 1 },
  fleecing: { enabled: true, storage: 'local' },
  notify: { packageUpdates: 'always' },
  api: 'hetzner',
  otelPath: '/other',
  otelResourceAttributes: 'a=b,c=d',
  fsName: 'cephfs',
  'realm.domain': 'corp.test',
  issuerUrl: 'https://idp.test/x',
  'vlan.device': 'eno2',
  'bond.primary': 'eno2',
  'sdn-vnet.zone': 'other',
  'sdn-zone.ipam': 'pve',
  'realm.default': true,
  prompt: 'login',
  path: 'other',
  lioTpg: 'tpg1',
}
