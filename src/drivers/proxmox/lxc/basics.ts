import { textOf } from '../option.ts'
import { type ContainerOption, scalar } from './option.ts'

export const dnsServers = scalar<readonly string[]>({
  path: 'dns.servers',
  key: 'nameserver',
  effect: 'restart',
  declared: (container) => container.dns?.servers,
  observed: (config) => (textOf(config.nameserver) ?? '').split(/[\s,;]+/).filter((server) => server !== ''),
  print: (servers) => servers.join(' '),
  same: (declared, observed) => declared.join(' ') === observed.join(' '),
})

/** Names and values, each pair ended by the one character that can be in none of them. */
export const environment = scalar<Readonly<Record<string, string>>>({
  path: 'environment',
  key: 'env',
  effect: 'restart',
  declared: (container) => container.environment,
  observed: (config) => Object.fromEntries((textOf(config.env) ?? '').split('\0').flatMap(pair)),
  print: printPairs,
  same: (declared, observed) => printPairs(declared) === printPairs(observed),
})

/** What can be given when a container is made, and neither read nor changed afterwards. */
export const atBirth: ContainerOption = {
  create({ spec: container }, params) {
    if (container.image !== undefined) params.ostemplate = container.image
    if (container.sshKeys !== undefined) params['ssh-public-keys'] = container.sshKeys.join('\n')
    if (container.password !== undefined) params.password = JSON.stringify(container.password)
  },
  compare() {},
  update() {},
}

function pair(text: string): [string, string][] {
  const equals = text.indexOf('=')
  return equals <= 0 ? [] : [[text.slice(0, equals), text.slice(equals + 1)]]
}

function printPairs(pairs: Readonly<Record<string, string>>): string {
  return Object.keys(pairs)
    .sort()
    .map((key) => `${key}=${pairs[key]}`)
    .join('\0')
}
