import { configYaml, nodeConfig } from '../../k3s/config.ts'
import { formatToken } from '../../k3s/token.ts'
import type { ClusterSecrets, ClusterSpec, NodeSpec } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import { hypervisorRow } from '../../model/hypervisors.ts'
import { CliError } from '../verb.ts'
import type { MarkedThing } from './look.ts'

/** A file of the directory that a person names: path below it, and text. Some of them are secrets. */
export interface HandedFile {
  readonly path: string
  readonly text: string
}

/**
 * Returns the files of a cluster's identity, as K3s reads them, and the configuration of each node. Pure. Without the
 * record there is nothing to hand over and no access to the Nodes, so the cluster is not left at all.
 */
export function clusterFiles(
  cluster: ClusterDeclaration,
  secrets: ClusterSecrets | undefined,
  kubeconfig: string | undefined,
): readonly HandedFile[] {
  const { key, name, spec } = cluster
  if (secrets === undefined)
    throw new CliError(
      `CA and tokens of ${key} are not kept here, so nothing was taken off. Run croft cluster recover ${name} --from ${spec.servers[0]?.name ?? 'SERVER'}, then this again. If it was never made, take its declaration out of Git instead.`,
    )
  const { caHash, password, agentPassword, formerPasswords, files } = secrets
  const tokenOf = (user: string, secret: typeof password) =>
    `${formatToken({ caHash, credentials: { user, password: secret.reveal() } })}\n`
  return [
    ...(kubeconfig === undefined ? [] : [{ path: `${name}/kubeconfig`, text: kubeconfig }]),
    { path: `${name}/token`, text: tokenOf('server', password) },
    { path: `${name}/agent-token`, text: tokenOf('node', agentPassword ?? password) },
    ...(formerPasswords.length === 0
      ? []
      : [{ path: `${name}/former-tokens`, text: formerPasswords.map((one) => tokenOf('server', one)).join('') }]),
    // With these files below /var/lib/rancher/k3s/server/tls a rebuilt cluster is the same cluster.
    ...[...files].map(([path, secret]) => ({ path: `${name}/server/tls/${path}`, text: secret.reveal() })),
    ...[...spec.servers, ...spec.agents].map((node) => ({
      path: `${name}/nodes/${node.name}/config.yaml`,
      text: `# K3s ${spec.version}, ${node.role}. Goes to /etc/rancher/k3s/config.yaml.\n${configOf(spec, node)}`,
    })),
    { path: `${name}/inventory.ini`, text: inventory(cluster) },
  ]
}

/** config.yaml, and its changes if there is no server left to join. */
function configOf(spec: ClusterSpec, node: NodeSpec): string {
  // A single server has no other to join.
  if (spec.servers.length === 1) return configYaml(nodeConfig(spec, node, 'first'))
  const { endpoint } = spec
  const joined = 'server' in endpoint ? endpoint.server : spec.servers[0]?.name
  const again = `# To rebuild all servers, start this one first, with "cluster-init": true in place of "server".\n`
  return `${node.name === joined ? again : ''}${configYaml(nodeConfig(spec, node))}`
}

/** An inventory for Ansible, in the groups that k3s-ansible knows. Pure. */
function inventory({ name, spec, hosts }: ClusterDeclaration): string {
  const line = ({ name: node, nodeIps, machine }: NodeSpec) => {
    const target = 'host' in machine ? hosts.get(machine.host) : undefined
    const address = target?.address ?? nodeIps[0]
    return [
      node,
      ...(address === undefined ? [] : [`ansible_host=${address}`]),
      ...(target === undefined ? [] : [`ansible_port=${target.port}`, `ansible_user=${target.user}`]),
    ].join(' ')
  }
  const group = name.replaceAll(/[^A-Za-z0-9_]/g, '_')
  const members = (nodes: readonly NodeSpec[]) => nodes.map((node) => `${line(node)}\n`).join('')
  return `[${group}_server]\n${members(spec.servers)}\n[${group}_agent]\n${members(spec.agents)}\n[${group}:children]\n${group}_server\n${group}_agent\n\n[${group}:vars]\nk3s_version=${spec.version}\n`
}

/** `import` blocks for OpenTofu: `tofu plan -generate-config-out=guests.tf` writes the rest. Pure. */
export function importBlocks(marked: readonly MarkedThing[]): string {
  return marked
    .flatMap(({ key, connection, observed: { type, host, externalId } }) => {
      const tofu = hypervisorRow(connection.driver)?.tofu
      const resource = tofu?.resources[type]
      if (tofu === undefined || resource === undefined) return []
      const name = key.slice(key.indexOf('/') + 1).replaceAll(/[^A-Za-z0-9_]/g, '_')
      const id = tofu.hostInId ? `${host}/${externalId}` : externalId
      return [
        `# ${key}; provider ${tofu.provider}\nimport {\n  to = ${resource}.${/^[A-Za-z_]/.test(name) ? name : `_${name}`}\n  id = ${JSON.stringify(id)}\n}\n`,
      ]
    })
    .join('\n')
}

/** Returns an earlier run's file with the new blocks: a second run marks only what the first could not. Pure. */
export function withImports(before: string | undefined, blocks: string): string {
  if (before === undefined || before.trim() === '') return blocks
  const addressOf = (text: string) => /^\s*to\s*=\s*(\S+)/m.exec(text)?.[1]
  const there = new Set(before.split(/^import\b/m).map(addressOf))
  const fresh = blocks.split(/^(?=# )/m).filter((block) => block !== '' && !there.has(addressOf(block)))
  return fresh.length === 0 ? before : `${before}\n${fresh.join('')}`
}
