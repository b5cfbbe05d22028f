import assert from 'node:assert/strict'
import { majority, voters } from '../../sim/k3s/etcd.ts'
import { all } from '../../sim/kubernetes/store.ts'
import type { EtcdCluster } from '../../sim/world/types.ts'
import type { memoryVault } from './cluster-run.ts'
import { type Simulation, storedText } from './run.ts'

type ClusterSimulation = Simulation & { readonly vault: ReturnType<typeof memoryVault> }

/** The etcd cluster of the run. More than one would be a second cluster beside the first. */
export function etcdOf(simulation: Simulation, hint: string): EtcdCluster | undefined {
  const clusters = [...simulation.datacentre.world.k3s.clusters.values()]
  const all = clusters.filter(({ members }) => members.size > 0)
  const living = all.filter(({ members }) => [...members.values()].some(({ process }) => process?.alive === true))
  assert.ok(living.length <= 1, `a second cluster was formed; ${hint}`)
  // One that is wholly down is still the cluster; one that a backup was tried on is not.
  return living[0] ?? all[0]
}

/** How many voters a cluster has, and how many of them are up. */
export function quorumOf(cluster: EtcdCluster): { readonly voters: number; readonly up: number } {
  const all = voters(cluster)
  return { voters: all.length, up: all.filter(({ process }) => process?.alive === true).length }
}

/** O5: checks at every pass that croft did not take etcd below its majority. */
export function createQuorumWatch(simulation: Simulation, hint: string): { look(): void; lowest(): number } {
  let lowest = Number.POSITIVE_INFINITY
  let formed = false
  return {
    look() {
      const cluster = etcdOf(simulation, hint)
      if (cluster === undefined) return
      const { voters: count, up } = quorumOf(cluster)
      const held = up >= majority(count)
      formed ||= held
      if (!formed) return
      lowest = Math.min(lowest, up - majority(count))
      assert.ok(held, `O5 ${up} of ${count} voters are up; ${hint}`)
    },
    lowest: () => lowest,
  }
}

interface NodeObject {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly key: string }[] }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly nodeInfo?: { readonly kubeletVersion?: string }
  }
}

export function nodesOf(cluster: EtcdCluster): readonly NodeObject[] {
  return all(cluster.store, '/nodes') as unknown as readonly NodeObject[]
}

/** Proves that every started operation, also of a killed process, is recorded as ended. */
export function noIntentionLeft({ disk }: Simulation, hint: string): void {
  const open = [...disk.intentions.values()].map(({ key, step }) => `${key}: ${step.summary}`)
  assert.deepEqual(open, [], `intentions that nobody settled; ${hint}`)
}

/** What a settled cluster looks like: every node once and Ready, a vote for each server, and no mark of ours left. */
export function clusterAsDeclared(simulation: Simulation, hint: string): void {
  noIntentionLeft(simulation, hint)
  const declaration = simulation.estate.clusters?.[0]
  assert.ok(declaration)
  const { spec } = declaration
  const cluster = etcdOf(simulation, hint)
  assert.ok(cluster, `there is no cluster; ${hint}`)
  const names = [...spec.servers, ...spec.agents].map(({ name }) => name).sort()
  const nodes = nodesOf(cluster)
  assert.deepEqual(nodes.map(({ metadata }) => metadata.name).sort(), names, `the Nodes; ${hint}`)
  for (const { metadata, spec: node, status } of nodes) {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status
    assert.equal(ready, 'True', `${metadata.name} is not Ready; ${hint}`)
    assert.equal(status?.nodeInfo?.kubeletVersion, spec.version, `${metadata.name} runs another release; ${hint}`)
    assert.notEqual(node?.unschedulable, true, `${metadata.name} is still cordoned; ${hint}`)
    const marks = Object.keys(metadata.annotations ?? {}).filter((key) => key === 'croft.dev/work')
    assert.deepEqual(marks, [], `${metadata.name} still carries our mark; ${hint}`)
  }
  const members = [...cluster.members.values()]
  assert.deepEqual(
    members.map(({ name }) => name.replace(/-[0-9a-f]{8}$/, '')).sort(),
    spec.servers.map(({ name }) => name).sort(),
    `the members of etcd; ${hint}`,
  )
  assert.ok(
    members.every(({ learner, process }) => !learner && process?.alive === true),
    `a member is no voter or is down; ${hint}`,
  )
}

/** Every form in which a secret could be written down. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  // In the middle of a longer text base64 looks different by where it begins: the part that is the same is searched.
  const shifted = [1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [
    secret,
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...shifted,
  ].filter((form) => form.length >= 12)
}

/**
 * A4: no secret of the cluster on any datastore, in the store, in a plan or event, or in anything else that croft has
 * printed. The disks of the nodes themselves hold them, and the vault, which is encrypted.
 */
export function noSecretAnywhere(simulation: ClusterSimulation, printed: string, hint: string): void {
  const secrets = [...simulation.vault.kept.values()].flatMap(({ password, agentPassword, files }) => [
    password.reveal(),
    ...(agentPassword === undefined ? [] : [agentPassword.reveal()]),
    ...[...files].filter(([path]) => path.endsWith('.key')).map(([, key]) => key.reveal().split('\n')[1] ?? ''),
  ])
  assert.ok(secrets.length >= 3, `the vault holds no secrets: nothing would be proved; ${hint}`)
  const places: [string, string][] = [
    ['the store', storedText(simulation.disk)],
    ['what was printed', printed],
    ['the estate', JSON.stringify({ ...simulation.estate, clusters: undefined })],
  ]
  for (const host of simulation.datacentre.world.hosts.values()) {
    for (const [storage, volumes] of host.volumes) {
      for (const volume of volumes.values()) {
        const text = volume.text ?? (volume.bytes === undefined ? '' : Buffer.from(volume.bytes).toString('latin1'))
        places.push([`${storage}:${volume.name} on ${host.name}`, text])
      }
    }
  }
  for (const [id, guest] of simulation.datacentre.world.guests) {
    places.push([`the configuration of ${id}`, JSON.stringify([...guest.config])])
  }
  for (const secret of secrets) {
    for (const form of formsOf(secret)) {
      for (const [place, text] of places) assert.ok(!text.includes(form), `A4 a secret is in ${place}; ${hint}`)
    }
  }
}
