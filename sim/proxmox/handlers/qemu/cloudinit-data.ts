import { createHash } from 'node:crypto'
import { parseProperties } from '../../../world/properties.ts'

type Config = ReadonlyMap<string, string>

/** What a host knows of name servers: a guest that was told nothing gets the same. */
export interface Resolver {
  readonly search: readonly string[]
  readonly servers: readonly string[]
}

/** Systems that read their drive in the form of a data centre of OpenStack. */
const isWindows = (ostype: string | undefined) => (ostype ?? '').startsWith('w')

/** The text of one part of a guest's cloud-init drive. */
export function cloudInitPart(
  type: string,
  config: Config,
  vmid: number,
  resolver: Resolver,
  maskPassword: boolean,
): string {
  if (type === 'user') return userData(config, vmid, maskPassword)
  const plain = (config.get('citype') ?? (isWindows(config.get('ostype')) ? 'configdrive2' : 'nocloud')) === 'nocloud'
  const network = plain ? networkVersion1(config, resolver) : interfacesFile(config, resolver)
  if (type === 'network') return network
  const id = createHash('sha1')
    .update(userData(config, vmid, false) + network)
    .digest('hex')
  if (plain) return `instance-id: ${id}\n`
  return `{\n     "uuid": "${id}",\n     "network_config": { "content_path": "/content/0000" }\n}\n`
}

function userData(config: Config, vmid: number, maskPassword: boolean): string {
  const name = config.get('name') ?? `VM${vmid}`
  const [host = ''] = name.split('.')
  const domain = config.get('searchdomain') ?? ''
  const user = config.get('ciuser')
  const password = config.get('cipassword')
  const keys = decodeURIComponent(config.get('sshkeys') ?? '')
    .split('\n')
    .filter((line) => /\S/.test(line))
  return lines([
    '#cloud-config',
    `hostname: ${host}`,
    'manage_etc_hosts: true',
    `fqdn: ${host === name && domain !== '' ? `${name}.${domain}` : name}`,
    ...(user === undefined ? [] : [`user: ${user}`]),
    ...(user === 'root' ? ['disable_root: False'] : []),
    ...(password === undefined ? [] : [`password: ${maskPassword ? '**********' : password}`]),
    ...(config.has('sshkeys') ? ['ssh_authorized_keys:', ...keys.map((key) => `  - ${key}`)] : []),
    'chpasswd:',
    '  expire: False',
    ...(user === 'root' ? [] : ['users:', '  - default']),
    ...(config.get('ciupgrade') === '0' ? [] : ['package_upgrade: true']),
  ])
}

interface Card {
  readonly number: string
  readonly mac: string
  readonly ip: ReadonlyMap<string, string>
}

/** Cards that cloud-init is told about. */
function cardsOf(config: Config): Card[] {
  return [...config.keys()]
    .filter((key) => /^net\d+$/.test(key))
    .sort()
    .flatMap((key) => {
      const number = key.slice(3)
      const given = config.get(`ipconfig${number}`) ?? ''
      const mac = /=((?:[0-9A-F]{2}:){5}[0-9A-F]{2})/i.exec(config.get(key) ?? '')?.[1]?.toLowerCase() ?? ''
      return given === '' ? [] : [{ number, mac, ip: parseProperties(given).named }]
    })
}

function namesFor(config: Config, resolver: Resolver): Resolver {
  const own = (key: string) => config.get(key)?.split(/\s+/)
  return { search: own('searchdomain') ?? resolver.search, servers: own('nameserver') ?? resolver.servers }
}

function networkVersion1(config: Config, resolver: Resolver): string {
  const { search, servers } = namesFor(config, resolver)
  return lines([
    'version: 1',
    'config:',
    ...cardsOf(config).flatMap(({ number, mac, ip }) => [
      '    - type: physical',
      `      name: eth${number}`,
      `      mac_address: '${mac}'`,
      '      subnets:',
      ...subnet4(ip.get('ip'), ip.get('gw')),
      ...subnet6(ip.get('ip6'), ip.get('gw6')),
    ]),
    '    - type: nameserver',
    ...listed('address', servers),
    ...listed('search', search),
  ])
}

function listed(name: string, words: readonly string[]): string[] {
  return words.length === 0 ? [] : [`      ${name}:`, ...words.map((word) => `      - '${word}'`)]
}

function subnet4(address: string | undefined, gateway: string | undefined): readonly string[] {
  if (address === undefined) return []
  if (address === 'dhcp') return ['      - type: dhcp4']
  const [ip, mask] = withMask(address)
  const shown = ['      - type: static', `        address: '${ip}'`, `        netmask: '${mask}'`]
  return gateway === undefined ? shown : [...shown, `        gateway: '${gateway}'`]
}

function subnet6(address: string | undefined, gateway: string | undefined): readonly string[] {
  if (address === undefined) return []
  if (address === 'dhcp') return ['      - type: dhcp6']
  if (address === 'auto') return ['      - type: ipv6_slaac']
  const shown = ['      - type: static6', `        address: '${address}'`]
  return gateway === undefined ? shown : [...shown, `        gateway: '${gateway}'`]
}

/** The other form: a file of interfaces. */
function interfacesFile(config: Config, resolver: Resolver): string {
  const { search, servers } = namesFor(config, resolver)
  return lines([
    'auto lo',
    'iface lo inet loopback',
    '',
    ...(servers.length === 0 ? [] : [`        dns_nameservers ${servers.join(' ')}`]),
    ...(search.length === 0 ? [] : [`        dns_search ${search.join(' ')}`]),
    ...cardsOf(config).flatMap(({ number, ip }) => {
      const name = `eth${number}`
      const [four, six] = [ip.get('ip'), ip.get('ip6')]
      return [`auto ${name}`, ...stanza4(name, four, ip.get('gw')), ...stanza6(name, six, ip.get('gw6'))]
    }),
  ])
}

function stanza4(name: string, address: string | undefined, gateway: string | undefined): string[] {
  if (address === undefined) return []
  if (address === 'dhcp') return [`iface ${name} inet dhcp`]
  const [ip, mask] = withMask(address)
  return [`iface ${name} inet static`, `        address ${ip}`, `        netmask ${mask}`, ...through(gateway)]
}

function stanza6(name: string, address: string | undefined, gateway: string | undefined): string[] {
  if (address === undefined) return []
  if (address === 'dhcp' || address === 'auto') return [`iface ${name} inet6 ${address}`]
  const [ip = '', bits = ''] = address.split('/')
  return [`iface ${name} inet6 static`, `        address ${ip}`, `        netmask ${bits}`, ...through(gateway)]
}

function through(gateway: string | undefined): string[] {
  return gateway === undefined ? [] : [`        gateway ${gateway}`]
}

function withMask(address: string): readonly [string, string] {
  const [ip = '', length = '32'] = address.split('/')
  const bits = Number(length)
  const mask = [0, 8, 16, 24].map((from) => 256 - 2 ** (8 - Math.min(8, Math.max(0, bits - from))))
  return [ip, mask.join('.')]
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
