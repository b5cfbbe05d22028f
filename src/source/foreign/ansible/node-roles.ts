import { hostsIn, type InventoryDraft } from './inventory.ts'
import type { ListedNode } from './listed-nodes.ts'

/** The hosts of an inventory that are K3s servers, and those that are agents. */
export interface NodeRoles {
  readonly servers: ReadonlySet<string>
  readonly agents: ReadonlySet<string>
}

/** Group names of the two published playbooks; then Kubernetes terms; then common words. */
const GROUP_NAMES: readonly { readonly server: RegExp; readonly agent: RegExp }[] = [
  { server: /^(?:server|master)$/, agent: /^(?:agent|node)$/ },
  {
    server: /^(?:k3s|k8s|kube|kubernetes)_?(?:servers?|masters?|control_?planes?|controllers?)$/,
    agent: /^(?:k3s|k8s|kube|kubernetes)_?(?:agents?|workers?|nodes?)$/,
  },
  { server: /^(?:servers|masters|control_?planes?|controllers?)$/, agent: /^(?:agents|workers?|nodes)$/ },
]

const SERVER_WORD = /^(?:servers?|masters?|control_?planes?|controllers?)$/
const AGENT_WORD = /^(?:agents?|workers?|nodes?)$/
/** Variables of a host by which a playbook knows its role. */
const ROLE_VARIABLES = ['k3s_role', 'node_role', 'role'] as const

const plain = (name: string) => name.toLowerCase().replaceAll('-', '_')

/** Finds roles by group names. A group that contains the servers' group is not for agents. */
export function rolesByGroup(inventory: InventoryDraft): NodeRoles | undefined {
  const named = (pattern: RegExp) => [...inventory.groups.keys()].filter((name) => pattern.test(plain(name)))
  const inGroups = (groups: readonly string[]) => new Set(groups.flatMap((group) => hostsIn(inventory, group)))
  for (const { server } of GROUP_NAMES) {
    const serverGroups = named(server)
    const servers = inGroups(serverGroups)
    if (servers.size === 0) continue
    const holdsServers = (group: string) =>
      serverGroups.some((one) => inventory.groups.get(group)?.children.has(one) === true)
    for (const { agent } of GROUP_NAMES) {
      const agents = inGroups(named(agent).filter((group) => !holdsServers(group)))
      if (agents.size > 0) return { servers, agents }
    }
    return { servers, agents: new Set() }
  }
  return undefined
}

/** Finds roles by a variable of each host, for playbooks without groups. */
export function rolesByVariable(
  hosts: readonly string[],
  value: (host: string, variable: string) => unknown,
): NodeRoles | undefined {
  const servers = new Set<string>()
  const agents = new Set<string>()
  for (const host of hosts) {
    const control = value(host, 'k3s_control_node')
    const said = ROLE_VARIABLES.map((name) => value(host, name)).find((one) => typeof one === 'string')
    const word = plain(typeof said === 'string' ? said.trim() : '')
    if (control === true || SERVER_WORD.test(word)) servers.add(host)
    else if (control === false || AGENT_WORD.test(word)) agents.add(host)
  }
  if (servers.size === 0) return undefined
  // A role for control nodes alone makes agents of all other hosts.
  for (const host of hosts)
    if (agents.size === 0 && !servers.has(host) && [...servers].every((one) => value(one, 'k3s_control_node') === true))
      agents.add(host)
  return { servers, agents }
}

/** Finds roles by the Kubernetes nodes, matched by name or by address. */
export function rolesByNodes(
  hosts: readonly string[],
  addressOf: (host: string) => string,
  nodes: readonly ListedNode[],
): NodeRoles | undefined {
  const roleOf = (host: string) => {
    const names = [host, host.split('.')[0] ?? host, addressOf(host)].map((one) => one.toLowerCase())
    return nodes.find(({ name, internal, external }) =>
      [name, internal, external].some((one) => one !== undefined && names.includes(one.toLowerCase())),
    )?.role
  }
  const servers = new Set(hosts.filter((host) => roleOf(host) === 'server'))
  return servers.size === 0 ? undefined : { servers, agents: new Set(hosts.filter((host) => roleOf(host) === 'agent')) }
}
