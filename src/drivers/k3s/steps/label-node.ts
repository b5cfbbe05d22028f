import { labelChange, sorted, taintText } from '../../../k3s/node-labels.ts'
import { at, recordsOf } from '../../../kubernetes/objects.ts'
import type { Outcome } from '../../../model/step.ts'
import { MARKS } from '../marks.ts'
import { DONE, refused, type StepContext, specOf } from '../node-lane.ts'
import { textOfTaint } from '../read-node.ts'
import { onNode } from './node-marks.ts'

/** Labels, taints and the note of what croft set, in one write against the version that was read. */
export async function labelNode(actor: StepContext): Promise<Outcome> {
  const spec = specOf(actor)
  if (spec === undefined) return refused('NotDeclared', 'waiting', `${actor.step.node} is no longer declared`)
  return onNode(actor, async ({ name, kube }, patch, object) => {
    const change = kube.labels === undefined ? undefined : labelChange(spec, kube.labels)
    if (change === undefined) return DONE
    const removed = new Set(change.removeTaints)
    // Taints of others go back as they came: Kubernetes counts tolerations from a time that stands in them.
    const kept = recordsOf(at(object, 'spec', 'taints')).filter((taint) => !removed.has(textOfTaint(taint)))
    const taints = [...kept, ...change.addTaints.map(taintOf)]
    const note = spec.taints.length + Object.keys(spec.labels).length === 0 ? null : JSON.stringify(sorted(spec))
    return patch(
      {
        metadata: {
          labels: { ...change.set, ...Object.fromEntries(change.remove.map((key) => [key, null])) },
          annotations: { [MARKS.labels]: note },
        },
        ...(change.addTaints.length + removed.size === 0 ? {} : { spec: { taints } }),
      },
      `set labels and taints of ${name}`,
    )
  })
}

function taintOf(text: string): Readonly<Record<string, string>> {
  const [, key = '', value, effect = ''] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(taintText(text)) ?? []
  return { key, ...(value === undefined ? {} : { value }), effect }
}
