import { parseProperties } from '../../../world/properties.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Host } from '../../../world/types.ts'
import { ApiError, failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { fingerprint } from '../node/nodes.ts'
import { digestOf, shelf, type Thing, textOf } from '../shelf.ts'
import { clusterName } from './cluster-name.ts'

const FILE = '/etc/pve/corosync.conf'

/** How the nodes are joined. A single node is in no cluster until somebody makes one of it. */
export const clusterConfigRoutes: Routes = {
  'GET /cluster/config': () => ['nodes', 'totem', 'join', 'qdevice', 'apiversion'].map((name) => ({ name })),
  'POST /cluster/config': create,
  'GET /cluster/config/nodes': members,
  'POST /cluster/config/nodes/{node}': add,
  'DELETE /cluster/config/nodes/{node}': remove,
  'GET /cluster/config/join': joinInfo,
  'POST /cluster/config/join': join,
  'GET /cluster/config/apiversion': () => '1',
  'GET /cluster/config/totem': (call) => (alone(call) ? null : totem(call)),
  'GET /cluster/config/qdevice': () => ({}),
}

function joinInfo(call: Call): Thing {
  if (alone(call)) throw new ApiError(424, 'node is not in a cluster, no join info available!')
  const asked = call.params.node ?? here(call).name
  const all = members(call)
  if (!all.some(({ name }) => name === asked)) throw failed(`unknown node '${asked}'`)
  return {
    nodelist: all.map(({ node: _, ...member }) => {
      const host = call.world.hosts.get(textOf(member.name))
      return host === undefined ? member : { ...member, pve_addr: host.address, pve_fp: fingerprint(host) }
    }),
    preferred_node: asked,
    totem: totem(call),
    config_digest: digestOf([all, totem(call)]),
  }
}

function totem(call: Call): Thing {
  const made = shelf(call.world, 'corosync').get('cluster')
  const links = linksOf(members(call)[0] ?? {})
  return {
    cluster_name: clusterName(call.world),
    config_version: `${members(call).length}`,
    interface: Object.fromEntries(links.map((link) => [`${link}`, { linknumber: `${link}` }])),
    ip_version: 'ipv4-6',
    link_mode: 'passive',
    secauth: 'on',
    token_coefficient: textOf(made?.['token-coefficient'] ?? '125'),
    version: '2',
  }
}

function alone(call: Call): boolean {
  return call.world.hosts.size < 2 && !shelf(call.world, 'corosync').has('cluster')
}

function here(call: Call): Host {
  const [host] = call.world.hosts.values()
  if (host === undefined) throw failed('there is no node')
  return host
}

const MOST_LINKS = 8

/** The numbers of the networks that a node is joined by. */
function linksOf(member: Thing): number[] {
  return Array.from({ length: MOST_LINKS }, (_, link) => link).filter(
    (link) => member[`ring${link}_addr`] !== undefined,
  )
}

/** The addresses that a call names, by the number of their network. */
function linksIn(call: Call): Map<number, string> {
  const links = new Map<number, string>()
  for (let link = 0; link < MOST_LINKS; link += 1) {
    const written = call.params[`link${link}`]
    if (written === undefined) continue
    const { main, named } = parseProperties(written, 'address')
    links.set(link, named.get('address') ?? main)
  }
  return links
}

const ringsOf = (links: ReadonlyMap<number, string>) =>
  Object.fromEntries([...links].map(([link, address]) => [`ring${link}_addr`, address]))

function members(call: Call): Thing[] {
  if (alone(call)) return []
  const made = shelf(call.world, 'corosync').get('cluster')
  const removed = shelf(call.world, 'corosync/removed')
  const own = [...call.world.hosts.values()].map((host, index) => ({
    name: host.name,
    node: host.name,
    nodeid: `${index + 1}`,
    ring0_addr: host.address,
    quorum_votes: '1',
    ...(index === 0 ? (made?.first as Thing | undefined) : undefined),
  }))
  return [...own.filter(({ name }) => !removed.has(name)), ...shelf(call.world, 'corosync/added').values()]
}

function create(call: Call): string {
  if (!alone(call)) throw failed(`cluster config '${FILE}' already exists`)
  const name = param(call, 'clustername')
  return startTask(call.world, here(call), 'clustercreate', name, call.who.id, async (work) => {
    await work.pass(call.world.timing.shortTaskMs)
    work.log(`Writing corosync config to ${FILE}`)
    work.log('Restart corosync and cluster filesystem')
    const { nodeid = '1', votes = '1', 'token-coefficient': coefficient = '125' } = call.params
    const links = linksIn(call)
    const rings = links.size === 0 ? { ring0_addr: here(call).address } : { ring0_addr: undefined, ...ringsOf(links) }
    const first = { nodeid, quorum_votes: votes, ...rings }
    shelf(call.world, 'corosync').set('cluster', { name, 'token-coefficient': coefficient, first })
  })
}

/** A node that has guests, or is in a cluster, is not taken in; and nobody answers who could take it in. */
function join(call: Call): string {
  const { world } = call
  return startTask(world, here(call), 'clusterjoin', '', call.who.id, async (work) => {
    await work.pass(world.timing.shortTaskMs)
    const joined = !alone(call)
    const addresses = new Set([here(call).address, '127.0.0.1'])
    const errors = [
      ...(joined ? ["authentication key '/etc/corosync/authkey' already exists"] : []),
      ...(joined ? [`cluster config '${FILE}' already exists`] : []),
      ...(world.guests.size === 0 ? [] : ['this host already contains virtual guests']),
      ...(joined ? ['corosync is already running, is this node already in a cluster?!'] : []),
      ...[...linksIn(call)]
        .filter(([, address]) => !addresses.has(address))
        .map(([link, address]) => `link${link}: cannot use IP '${address}', not found on local node!`),
    ]
    if (errors.length > 0) {
      work.log('detected the following error(s):')
      for (const error of errors) work.log(`* ${error}`)
      if (!flag(call, 'force')) throw new Error('Check if node may join a cluster failed!')
    }
    work.log(`Establishing API connection with host '${param(call, 'hostname')}'`)
    throw new Error(`500 Can't connect to ${param(call, 'hostname')}:8006 (Connection refused)`)
  })
}

function add(call: Call): Thing {
  if (alone(call)) throw new ApiError(500, 'invalid corosync.conf', { error0: 'no nodes found' })
  const { params } = call
  const name = param(call, 'node')
  const all = members(call)
  const given = linksIn(call)
  for (const address of given.values()) refuseUsed(all, name, address)
  const links = linksFor(call, given, linksOf(all[0] ?? {}))
  const old = all.find((member) => member.name === name)
  const nodeid = params.nodeid ?? textOf(old?.nodeid ?? freeId(all))
  const votes = params.votes ?? textOf(old?.quorum_votes ?? '1')
  const same = old !== undefined && old.quorum_votes === votes && old.nodeid === nodeid
  if (old !== undefined && !(same && flag(call, 'force'))) throw failed(`can't add existing node '${name}'`)
  const counted = votes === '0' ? {} : { quorum_votes: votes }
  shelf(call.world, 'corosync/removed').delete(name)
  if (!call.world.hosts.has(name))
    shelf(call.world, 'corosync/added').set(name, { name, node: name, nodeid, ...counted, ...ringsOf(links) })
  return {
    corosync_authkey: digestOf('authkey'),
    corosync_conf: confOf(totem(call), members(call)),
    warnings: [],
  }
}

/** An address that is used twice can bring the whole cluster down. */
function refuseUsed(all: readonly Thing[], name: string, address: string): void {
  for (const member of all) {
    const link = member.name === name ? undefined : linksOf(member).find((one) => member[`ring${one}_addr`] === address)
    if (link !== undefined)
      throw failed(
        `corosync: address '${address}' already used on link ring${link}_addr by node '${textOf(member.name)}'`,
      )
  }
}

/** A node that says little is joined by the one network that all have. */
function linksFor(call: Call, given: Map<number, string>, there: readonly number[]): Map<number, string> {
  let fallback = call.params.new_node_ip
  const old = fallback === undefined && given.size === 1 && Number(call.params.apiversion ?? 0) === 0
  if (old) {
    fallback = [...given.values()][0]
    given.clear()
  }
  if (given.size > 0) {
    for (let link = 0; link < MOST_LINKS; link += 1) {
      const [has, wants] = [there.includes(link), given.has(link)]
      if (has && !wants)
        throw failed(`corosync: link ${link} exists in cluster config but wasn't specified for new node`)
      if (!has && wants) throw failed(`corosync: link ${link} specified for new node doesn't exist in cluster config`)
    }
    return given
  }
  if (fallback === undefined) throw failed('no links and no fallback ip (new_node_ip) given, cannot join cluster')
  const [only] = there
  if (there.length === 1 && only !== undefined) return new Map([[only, fallback]])
  if (old) throw failed(`cluster has ${there.length} links, but only 1 given`)
  throw failed(
    'no links given but multiple links found on other nodes, fallback only supported on single-link clusters',
  )
}

function freeId(all: readonly Thing[]): string {
  let id = 1
  while (all.some(({ nodeid }) => nodeid === `${id}`)) id += 1
  return `${id}`
}

/** The file that all nodes share, as far as others read it. */
function confOf({ interface: links, ...totem }: Thing, all: readonly Thing[]): string {
  const block = (name: string, fields: Thing, indent = '  ') =>
    `${indent}${name} {\n${Object.entries(fields)
      .map(([key, value]) => `${indent}  ${key}: ${textOf(value)}\n`)
      .join('')}${indent}}\n`
  const nodes = all.map(({ node: _, ...member }) => block('node', member)).join('')
  const interfaces = Object.values(links as Record<string, Thing>)
    .map((link) => block('interface', link))
    .join('')
  const lines = Object.entries(totem).map(([key, value]) => `  ${key}: ${textOf(value)}\n`)
  return `nodelist {\n${nodes}}\n\ntotem {\n${lines.join('')}${interfaces}}\n`
}

function remove(call: Call): null {
  const name = param(call, 'node')
  if (name === here(call).name) throw failed('Cannot delete myself from cluster!')
  const found = members(call).find((member) => member.name === name || member.ring0_addr === name)
  if (found === undefined) throw failed(`Node/IP: ${name} is not a known host of the cluster.`)
  shelf(call.world, 'corosync/added').delete(textOf(found.name))
  shelf(call.world, 'corosync/removed').set(textOf(found.name), {})
  return null
}
