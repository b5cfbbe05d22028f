import { BACKUP_SECRET_FILE, S3_SECRET } from '../../../k3s/backup-flags.ts'
import { configHash } from '../../../k3s/config.ts'
import { KUBE_VIP_FILE } from '../../../k3s/kube-vip.ts'
import { absentFiles } from '../../../k3s/node-files.ts'
import type { NodeFacts } from '../../../k3s/node-program.ts'
import { labelsOf } from '../../../kubernetes/objects.ts'
import type { NodeSpec } from '../../../model/cluster.ts'
import type { Outcome } from '../../../model/step.ts'
import {
  command,
  DONE,
  nodeName,
  outcomeOf,
  outcomeOfAsked,
  refused,
  type StepContext,
  specOf,
  withApi,
  withFacts,
} from '../node-lane.ts'
import { type FileToPut, optionalFiles, otherVoter, ownConfig, placeOf, wholeSet } from './node-files.ts'

/** Writes the optional files and deletes undeclared ones, with the objects that K3s made of them. */
export async function putFiles(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const node = specOf(actor)
    if (node === undefined) return refused('NotDeclared', 'waiting', `${nodeName(actor)} is no longer declared`)
    const cleared = await removeObjects(actor, node, facts)
    if (cleared.result !== 'done') return cleared
    const arrival = arrivalOf(actor, node, facts)
    const input = wholeSet(actor, node, [...arrival, ...(await optionalFiles(actor, node))])
    const put = await command(shell, 'put', actor.signal, { input })
    return put.is === 'answer' ? DONE : outcomeOf(put, `write files of ${nodeName(actor)}`)
  })
}

/** Returns config.yaml if its join settings differ from those it would get now. Restarts nothing. */
function arrivalOf(actor: StepContext, node: NodeSpec, { begins, configHash: hash }: NodeFacts): readonly FileToPut[] {
  if (node.role !== 'server' || begins === undefined || hash !== configHash(actor.declaration.spec, node)) return []
  const place = placeOf(actor, node)
  if (begins === (place === 'first') || (place === 'member' && otherVoter(actor, node.name) === undefined)) return []
  return [ownConfig(actor, node, place)]
}

const SYSTEM = 'namespaces/kube-system'
const RBAC = `/apis/rbac.authorization.k8s.io/v1/${SYSTEM}`

/** Objects that K3s creates from a manifest and keeps after the file is gone. croft deletes them with the last file. */
const OBJECTS: Readonly<Record<string, readonly string[]>> = {
  [KUBE_VIP_FILE]: [
    `/apis/apps/v1/${SYSTEM}/daemonsets/kube-vip`,
    `${RBAC}/rolebindings/kube-vip`,
    `${RBAC}/roles/kube-vip`,
    `/api/v1/${SYSTEM}/serviceaccounts/kube-vip`,
  ],
  [BACKUP_SECRET_FILE]: [`/api/v1/${SYSTEM}/secrets/${S3_SECRET}`],
}

/** Deletes them with the last file: another server with the file would make K3s recreate them. */
export async function removeObjects(actor: StepContext, node: NodeSpec, facts: NodeFacts): Promise<Outcome> {
  const { declaration, memory, signal } = actor
  const others = [...memory.facts].filter(([name]) => name !== node.name)
  const silent = declaration.spec.servers.find(({ name }) => name !== node.name && !memory.facts.has(name))
  const paths = absentFiles(declaration.spec, node).filter(
    (path) => facts.files?.[path] !== undefined && others.every(([, known]) => known.facts.files?.[path] === undefined),
  )
  const objects = paths.flatMap((path) => OBJECTS[path] ?? [])
  if (objects.length === 0) return DONE
  if (silent !== undefined) {
    const message = `${silent.name} has not said which files it has: what K3s made of ${paths.join(', ')} goes with the last server that has it`
    return refused('NotSeen', 'waiting', message)
  }
  return withApi(actor, async (client) => {
    for (const object of objects) {
      const asked = await client.get(object, signal)
      if (asked.is === 'error' && asked.status === 404) continue
      if (asked.is !== 'answer') return outcomeOfAsked(asked)
      const isOwn =
        /\/croft-[^/]+$/.test(object) || labelsOf(asked.value).get('app.kubernetes.io/managed-by') === 'croft'
      if (!isOwn) continue
      const outcome = outcomeOfAsked(await client.delete(object, `delete ${object}`, {}, signal), 'is-success')
      if (outcome.result !== 'done') return outcome
    }
    return DONE
  })
}
