import { wordSet } from '../../../lib/word-list.ts'
import { isFields } from '../../manifest.ts'
import { wordsOf } from '../ansible/ini-inventory.ts'
import { argsIn } from '../ansible/k3s-args.ts'
import { kubeNodes } from '../ansible/listed-nodes.ts'
import { type MadeHost, madeInventory } from '../ansible/made-inventory.ts'
import { documentsIn } from '../documents.ts'
import { chosenFiles, type ForeignFile, type ForeignFormat, type NotCarried } from '../reading.ts'
import { readInventory } from './k3s-ansible.ts'

/** Scripts that call k3sup, also those that `k3sup plan` writes: the boxes, and the cluster that was formed on them. */
export const k3sup: ForeignFormat = {
  name: 'k3sup',
  about: 'the directory of a script with k3sup install and k3sup join, and of devices.json, known_hosts and nodes.json',
  names: /\.sh$|^known_hosts$/i,
  read(files, options) {
    const scripts = chosenFiles(files, options.under).filter(({ path }) => /\.sh$/i.test(path))
    const calls = scripts.flatMap(callsIn)
    const first = calls.find(({ verb }) => verb === 'install')
    if (first === undefined) return { problem: 'no script with a call of k3sup install is among the files' }
    const lost: NotCarried[] = []
    const names = namesOf(files)
    const flag = (call: K3supCall, ...flags: readonly string[]) => flags.map((one) => call.flags.get(one)).find(Boolean)
    const hosts = calls.flatMap((call): readonly MadeHost[] => {
      const address = flag(call, 'ip', 'host') ?? (call.flags.has('local') ? '127.0.0.1' : undefined)
      if (address === undefined || address.includes('$')) {
        lost.push({ what: `k3sup ${call.verb} in ${call.path}`, why: 'only a shell knows the address of its host' })
        return []
      }
      const role = call.verb === 'install' || call.flags.has('server') ? 'server' : 'agent'
      lost.push(...leftOut(call, address))
      return [
        {
          name: names.get(address) ?? address,
          role,
          variables: {
            ansible_host: address,
            ansible_user: flag(call, 'user') ?? 'root',
            ...(flag(call, 'ssh-port') === undefined ? {} : { ansible_port: Number(flag(call, 'ssh-port')) }),
            ...(flag(call, 'ssh-key') === undefined ? {} : { ansible_ssh_private_key_file: flag(call, 'ssh-key') }),
            ...(call.flags.has('local') ? { ansible_connection: 'local' } : {}),
            [role === 'server' ? 'extra_server_args' : 'extra_agent_args']: argsOf(call, role),
          },
        },
      ]
    })
    if (flag(first, 'datastore') !== undefined)
      lost.push({ what: 'datastore', why: 'croft keeps clusters with etcd or SQLite alone' })
    const version = flag(first, 'k3s-version') ?? kubeNodes(files).find(({ role }) => role === 'server')?.version
    const found = madeInventory(
      first.path,
      hosts,
      {
        ...(version === undefined ? {} : { k3s_version: version }),
        api_endpoint: flag(first, 'ip', 'host') ?? '127.0.0.1',
        ...(flag(first, 'datastore') === undefined ? {} : { use_external_database: true }),
        ...(flag(first, 'context') === undefined ? {} : { cluster_context: flag(first, 'context') }),
      },
      lost,
    )
    return 'problem' in found ? found : readInventory(found, files, options.cluster)
  },
}

interface K3supCall {
  readonly path: string
  readonly verb: 'install' | 'join'
  readonly flags: ReadonlyMap<string, string>
}

/** Flags without a value. */
const SWITCHES = wordSet(`
  cluster server local merge print-command print-config skip-install sudo no-extras ipsec token
`)
/** Flags that become a field, or that only say how k3sup itself works. */
const KNOWN = wordSet(`
  ip host user ssh-port ssh-key k3s-version k3s-extra-args tls-san context no-extras cluster server server-ip
  server-host server-user server-ssh-port server-url local datastore local-path merge print-command print-config
  skip-install sudo
`)

/** Every call of k3sup in a script, with the variables that the script itself sets. */
function callsIn({ path, text }: ForeignFile): readonly K3supCall[] {
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split('\n')
  const variables = new Map<string, string>()
  return lines.flatMap((line): readonly K3supCall[] => {
    const set = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(?!\()(.*)$/.exec(line)
    const value = set === null || /\$\(|`/.test(set[2] ?? '') ? undefined : wordsOf(set[2] ?? '')?.[0]
    if (set?.[1] !== undefined && value !== undefined) variables.set(set[1], value)
    const call = /(?:^|[\s;&|])k3sup\s+(install|join)(?=\s|$)(.*)$/.exec(line)
    if (call === null || /^\s*#/.test(line)) return []
    const filled = (call[2] ?? '').replace(
      /\$\{?([A-Za-z_]\w*)\}?/g,
      (whole, name: string) => variables.get(name) ?? whole,
    )
    const words = wordsOf(filled.replace(/\s&\s*$/, ' ')) ?? []
    const flags = new Map<string, string>()
    for (let at = 0; at < words.length; at++) {
      const [, name = '', given] = /^--([a-z0-9-]+)(?:=([\s\S]*))?$/.exec(words[at] ?? '') ?? []
      if (name === '') continue
      const next = words[at + 1]
      const separate = given === undefined && !SWITCHES.has(name) && next !== undefined
      if (separate) at += 1
      flags.set(name, given ?? (separate ? (next ?? '') : 'true'))
    }
    return [{ path, verb: call[1] === 'install' ? 'install' : 'join', flags }]
  })
}

/** Returns the flags of K3s: the user's, and those that k3sup adds. */
function argsOf({ flags }: K3supCall, role: MadeHost['role']): string {
  const own = flags.get('k3s-extra-args') ?? ''
  const sans = role === 'server' ? (flags.get('tls-san') ?? '').split(',').filter((one) => one !== '') : []
  const extras = flags.has('no-extras') ? ['--disable servicelb', '--disable traefik'] : []
  return [own, ...extras, ...sans.map((one) => `--tls-san ${one}`)].filter((one) => one !== '').join(' ')
}

function leftOut({ flags, verb }: K3supCall, address: string): readonly NotCarried[] {
  const what = (flag: string) => `--${flag} of k3sup ${verb} for ${address}`
  const secret = ['token', 'node-token', 'node-token-path'].filter((flag) => flags.has(flag))
  const other = [...flags.keys()].filter((flag) => !KNOWN.has(flag) && !secret.includes(flag))
  return [
    ...secret.map((flag) => ({
      what: what(flag),
      why: 'it is secret; croft reads the token from a server when it takes the cluster over',
    })),
    ...other.map((flag) => ({
      what: what(flag),
      why:
        flag === 'k3s-channel'
          ? 'croft keeps an exact version: that of nodes.json, or write version'
          : 'croft has no field for it',
    })),
    ...argsIn(flags.get('k3s-extra-args'), what('k3s-extra-args')).lost,
  ]
}

/** The names of boxes in devices.json, as `k3sup plan` reads them. */
function namesOf(files: readonly ForeignFile[]): ReadonlyMap<string, string> {
  return new Map(
    files
      .filter(({ path }) => /\.json$/i.test(path))
      .flatMap(({ text }) => documentsIn(text) ?? [])
      .flatMap((value) => (Array.isArray(value) ? value : []))
      .filter(isFields)
      .flatMap(({ hostname, ip }) =>
        typeof hostname === 'string' && typeof ip === 'string' ? [[ip, hostname] as const] : [],
      ),
  )
}
