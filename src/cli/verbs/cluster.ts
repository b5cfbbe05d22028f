import { planForget } from '../../plan/clusters/forget.ts'
import { replacementSaid } from '../../plan/clusters/replace.ts'
import { rolloutId } from '../../plan/clusters/rollout.ts'
import { planRotation, type Rotation } from '../../plan/clusters/rotate.ts'
import { openState } from '../../state/state-file.ts'
import { openCluster } from '../clusters/opened.ts'
import { changeRequests, withoutRequest } from '../clusters/requests.ts'
import { closing } from '../load.ts'
import { note } from '../output.ts'
import { clean } from '../render/text.ts'
import { saidYes } from '../said-yes.ts'
import { CliError, EXIT, UsageError, type Verb } from '../verb.ts'
import { backup } from './cluster/backup.ts'
import { type ClusterCommand, findCluster } from './cluster/find.ts'
import { kubeconfig } from './cluster/kubeconfig.ts'
import { operate } from './cluster/operate.ts'
import { restore } from './cluster/restore.ts'
import { snapshots } from './cluster/snapshots.ts'
import { noteOperation } from './machine/find.ts'

/** Orders a node to leave its cluster and rejoin fresh; the coordinator does it when everything else is well. */
const replace: ClusterCommand = async (runtime, { cluster, state, words }) => {
  const [node] = words
  const nodes = [...cluster.spec.servers, ...cluster.spec.agents].map(({ name }) => name)
  if (node === undefined)
    throw new UsageError(`Name the node: croft cluster replace ${cluster.name} ${nodes[0] ?? ''}.`)
  if (!nodes.includes(node)) throw new CliError(`${node} is not a node of ${cluster.name}. It has ${nodes.join(', ')}.`)
  await using store = closing(await openState(runtime, state))
  const atMs = runtime.clock.now()
  await changeRequests(store.it, cluster.name, (requests) => ({
    ...requests,
    replace: [...requests.replace.filter((order) => order.node !== node), { node, atMs, goes: 'unseen' }],
  }))
  const message = replacementSaid(cluster.spec, node)
  await noteOperation(runtime, store.it, cluster.key, 'replace', 'done', message)
  runtime.out.write(`${cluster.key}: ${message}\n`)
  return EXIT.ok
}

/** Agrees to the removal of an etcd member without a declared server. The quorum guard still applies. */
const removeMember: ClusterCommand = async (runtime, { cluster, state, words }) => {
  const [id] = words
  if (id === undefined || !/^[0-9a-f]{1,16}$/.test(id)) {
    throw new UsageError(
      `Name the member by its id, as croft plan shows it: croft cluster remove-member ${cluster.name} 9a1e48b3d305ad3b.`,
    )
  }
  await using store = closing(await openState(runtime, state))
  await changeRequests(store.it, cluster.name, (requests) => ({
    ...requests,
    removeMembers: [...new Set([...requests.removeMembers, id])],
  }))
  const message = `the etcd member ${id} will be removed if it belongs to no node`
  await noteOperation(runtime, store.it, cluster.key, 'remove-member', 'done', message)
  runtime.out.write(`${cluster.key}: ${message}\n`)
  return EXIT.ok
}

/** Records a person's word that an unreachable server is dead. First shows what croft knows of it. */
const forget: ClusterCommand = async (runtime, { cluster, estate, directory, state, words }, options) => {
  const [node] = words
  if (node === undefined)
    throw new UsageError(`Name the dead server, as croft plan shows it: croft cluster forget ${cluster.name} s3.`)
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const { observed } = await opened.it.look()
  const plan = planForget(cluster.spec, observed, node, runtime.clock.now())
  if ('refused' in plan) {
    await noteOperation(runtime, store.it, cluster.key, 'forget', 'refused', `${node}: ${plan.refused}`)
    throw new CliError(`${clean(plan.refused)}. ${clean(plan.allow)}.`)
  }
  runtime.out.write(`${plan.believed.map((line) => `${clean(line, 500)}.\n`).join('')}`)
  runtime.out.write(`If ${node} still runs somewhere, its pods run twice from now on.\n`)
  if (options.yes !== true) {
    if (!runtime.interactive)
      throw new CliError(`croft cluster forget needs a yes. Nobody is at the terminal: say --yes.`)
    if (!saidYes(await runtime.ask(`Is ${node} dead for good? [y/N] `))) {
      note(runtime, `Nothing was done: forget was not confirmed.`)
      return EXIT.failed
    }
  }
  await changeRequests(store.it, cluster.name, (requests) => ({
    ...requests,
    forget: [...(requests.forget ?? []).filter((one) => one.node !== node), plan.order],
  }))
  const message = `${node} counts as dead: its etcd member and its Node go without stopping it`
  await noteOperation(runtime, store.it, cluster.key, 'forget', 'done', message)
  runtime.out.write(`${cluster.key}: ${message}\n`)
  return EXIT.ok
}

/** Pauses, resumes or aborts the rollout of a cluster. Git has the version itself. */
const upgrade: ClusterCommand = async (runtime, { cluster, state }, options) => {
  const chosen = (['pause', 'resume', 'abort'] as const).filter((one) => options[one] === true)
  const [what, more] = chosen
  if (what === undefined || more !== undefined) {
    throw new UsageError(
      `Say one of --pause, --resume, --abort. To upgrade ${cluster.name}, change spec.version in Git.`,
    )
  }
  await using store = closing(await openState(runtime, state))
  const nowMs = runtime.clock.now()
  await changeRequests(store.it, cluster.name, (requests) => {
    switch (what) {
      case 'pause':
        return { ...requests, rolloutPaused: true }
      case 'resume':
        return { ...withoutRequest(requests, 'rolloutAborted'), rolloutPaused: false, resumedMs: nowMs }
      case 'abort':
        return { ...requests, rolloutAborted: rolloutId(cluster.spec) }
    }
  })
  await noteOperation(runtime, store.it, cluster.key, `upgrade --${what}`, 'done', SAID[what])
  runtime.out.write(`${cluster.key}: ${SAID[what]}\n`)
  return EXIT.ok
}

const SAID = {
  pause: 'the rollout is paused; what has begun is finished, nothing new begins',
  resume: 'the rollout continues',
  abort: 'the rollout is aborted; croft uncordons every node that it cordoned for it',
} as const

/** Reads CA and token back from a server that runs, where the record of a cluster was lost. */
const recover: ClusterCommand = async (runtime, { cluster, estate, directory, state, words }, options) => {
  const server = (options.from as string | undefined) ?? words[0]
  const servers = cluster.spec.servers.map(({ name }) => name)
  if (server === undefined || !servers.includes(server)) {
    throw new UsageError(`Name a server that runs with --from: ${servers.join(', ')}.`)
  }
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  // Open only the nodes' shells: a whole look would need the missing record.
  const surroundings = await opened.it.surroundings()
  const problem = await opened.it.operator.recover(server, surroundings, runtime.signal)
  if (problem !== undefined)
    throw new CliError(`${cluster.name} was not recovered: ${clean(problem)}. Try another server.`)
  await noteOperation(runtime, store.it, cluster.key, 'recover', 'done', `from ${server}`)
  runtime.out.write(`${cluster.key}: CA and token were read from ${server} and are kept again\n`)
  return EXIT.ok
}

/** Prints what makes the cluster itself, encrypted, so that it can lie in Git and outlive this computer. */
const escrow: ClusterCommand = async (runtime, { cluster, estate, directory, state }) => {
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const sealed = await opened.it.sealed()
  if (sealed === undefined) {
    throw new CliError(
      `There is nothing to keep of ${cluster.name} yet: its CA and token are made by the first croft apply.`,
    )
  }
  await noteOperation(runtime, store.it, cluster.key, 'escrow', 'done', 'printed, encrypted')
  runtime.out.write(sealed)
  runtime.err.write(
    `Keep it in the estate as escrow/${cluster.name}.cluster.age, and the age key where this computer is not.\n`,
  )
  return EXIT.ok
}

const ROTATIONS: readonly Rotation[] = ['token', 'ca', 'certificates', 'encryption-keys']

const rotate: ClusterCommand = async (runtime, { cluster, estate, directory, state, words }, options) => {
  const what = ROTATIONS.find((one) => one === words[0])
  if (what === undefined) throw new UsageError(`Say what to rotate: ${ROTATIONS.join(', ')}.`)
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const { observed } = await opened.it.look()
  const operation = planRotation(what, cluster.spec, observed, runtime.clock.now())
  const code = await operate(runtime, store.it, opened.it, operation, options)
  if (code === EXIT.ok && options.plan !== true && (what === 'token' || what === 'ca'))
    note(runtime, `What is kept of it in Git is old now: commit what croft cluster escrow ${cluster.name} prints.`)
  return code
}

/** Each with how many words may come after the name of the cluster. */
const VERBS: Readonly<Record<string, readonly [ClusterCommand, number]>> = {
  kubeconfig: [kubeconfig, 1],
  upgrade: [upgrade, 0],
  backup: [backup, 0],
  snapshots: [snapshots, 0],
  restore: [restore, 1],
  replace: [replace, 1],
  rotate: [rotate, 1],
  'remove-member': [removeMember, 1],
  forget: [forget, 1],
  recover: [recover, 1],
  escrow: [escrow, 0],
}

/** Operations on one cluster: what a person asks for, in addition to what Git declares. */
export const run: Verb = async (runtime, [what = '', ...words], options) => {
  const [verb, most] = VERBS[what] ?? []
  if (verb === undefined) {
    throw new UsageError(`There is no croft cluster ${what}. Use ${Object.keys(VERBS).join(', ')}.`)
  }
  const found = await findCluster(runtime, words, options, most)
  return verb(runtime, found, options)
}
