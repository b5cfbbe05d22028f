import { configHash } from '../../../k3s/config.ts'
import { evictsPods, labelChange, sorted, taintText } from '../../../k3s/node-labels.ts'
import type { NodeFacts } from '../../../k3s/node-program.ts'
import { at, recordsOf } from '../../../kubernetes/objects.ts'
import type { NodeSpec } from '../../../model/cluster.ts'
import { EVICTS_PODS, type LabelSet } from '../../../model/observed-cluster.ts'
import type { Outcome } from '../../../model/step.ts'
import { isoTime, MARKS } from '../marks.ts'
import { command, DONE, outcomeOf, refused, type StepContext, specOf, withFacts } from '../node-lane.ts'
import { textOfTaint } from '../read-node.ts'
import { ownConfig } from './node-files.ts'
import { onNode } from './node-marks.ts'

/** Sets labels, taints and the note of croft's own, in one write against the version that was read. */
export async function labelNode(actor: StepContext): Promise<Outcome> {
  const spec = specOf(actor)
  if (spec === undefined) return refused('NotDeclared', 'waiting', `${actor.step.node} is no longer declared`)
  return onNode(actor, async ({ name, kube }, patch, object) => {
    const change = kube.labels === undefined ? undefined : labelChange(spec, kube.labels)
    if (change === undefined) return DONE
    const evicts = evictsPods(change)
    if (evicts && actor.step.target !== EVICTS_PODS)
      return refused(
        'Changed',
        'waiting',
        `the taints of ${name} changed since they were read, and would evict pods now`,
      )
    const written = await withoutOldLabels(actor, spec, kube.labels?.started)
    if (written.result !== 'done') return written
    const removed = new Set(change.removeTaints)
    // Taints of others are sent back unchanged: Kubernetes counts tolerations from a time in them.
    const kept = recordsOf(at(object, 'spec', 'taints')).filter((taint) => !removed.has(textOfTaint(taint)))
    const taints = [...kept, ...change.addTaints.map(taintOf)]
    return patch(
      {
        metadata: {
          labels: { ...change.set, ...Object.fromEntries(change.remove.map((key) => [key, null])) },
          annotations: {
            [MARKS.labels]: JSON.stringify(sorted(spec)),
            // From here the next node waits for the soak.
            ...(evicts ? { [MARKS.changed]: isoTime(actor.deps.clock.now()) } : {}),
          },
        },
        ...(change.addTaints.length + removed.size === 0 ? {} : { spec: { taints } }),
      },
      `set labels and taints of ${name}`,
    )
  })
}

/** K3s sets the labels of its config.yaml at every start, so remove an undeclared one from that file too. */
async function withoutOldLabels(actor: StepContext, node: NodeSpec, started: LabelSet | undefined): Promise<Outcome> {
  const { declaration, memory, signal } = actor
  if (Object.keys(started?.labels ?? {}).every((key) => Object.hasOwn(node.labels, key))) return DONE
  // If the hash differs, the step that restarts K3s with its new configuration writes the file.
  const isAsDeclared = ({ configHash: hash }: NodeFacts) => hash === configHash(declaration.spec, node)
  const known = memory.facts.get(node.name)?.facts
  if (known !== undefined && !isAsDeclared(known)) return DONE
  return withFacts(actor, async (shell, facts) => {
    if (!isAsDeclared(facts)) return DONE
    const put = await command(shell, 'put', signal, { input: { files: [ownConfig(actor, node)] } })
    return put.is === 'answer' ? DONE : outcomeOf(put, `write the configuration of ${node.name}`)
  })
}

function taintOf(text: string): Readonly<Record<string, string>> {
  const [, key = '', value, effect = ''] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(taintText(text)) ?? []
  return { key, ...(value === undefined ? {} : { value }), effect }
}
