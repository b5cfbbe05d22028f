import type { ClusterHold, ClusterPlan } from '../../model/observed-cluster.ts'
import { toldStep } from '../../model/shown-step.ts'
import { clusterDiffers, forecast, type NodeForecast } from '../../plan/clusters/forecast.ts'
import { clean, type Style } from './text.ts'

const SYMBOL: Readonly<Record<NodeForecast['becomes'], string>> = {
  nothing: '=',
  joins: '+',
  leaves: '-',
  changes: '~',
  replaced: '-/+',
}

const PAINT = { nothing: 'dim', joins: 'green', leaves: 'red', changes: 'yellow', replaced: 'yellow' } as const

/** Renders a cluster in a plan: the future of each node, the next step, and the obstacles. */
export function renderClusterPlan(look: ClusterPlan, style: Style): string {
  if (!clusterDiffers(look)) return ''
  const { declaration, decision } = look
  const { file, line } = declaration.origin
  const nodes = forecast(look)
  const width = Math.max(...nodes.map(({ name }) => name.length))
  const head = `  ${style.paint('bold', `${clean(declaration.key)}`)}   K3s ${clean(declaration.spec.version)}   ${clean(file)}:${line}`
  const rows = nodes.map(
    ({ name, becomes, text, role }) =>
      `${style.paint(PAINT[becomes], SYMBOL[becomes].padEnd(3))} ${clean(name).padEnd(width)}  ${role}${text === '' ? '' : `  ${clean(text)}`}`,
  )
  // Machines are listed above, step by step.
  const next = decision.steps
    .filter(({ verb }) => !verb.endsWith('-machine'))
    .map((step) => `next: ${clean(toldStep(step))}`)
  const waits = decision.waits.map(({ awaits }) => `waits for ${clean(awaits)}`)
  const body = [
    ...rows,
    ...next,
    ...waits,
    ...decision.holds.flatMap((hold) => objection('held', hold)),
    ...decision.refusals.flatMap((refusal) => objection('refused', refusal)),
    ...decision.warnings.map((warning) => `warning: ${clean(warning)}`),
    isLost(look) ? '' : clean(decision.faultTolerance),
  ]
  return [head, ...body.filter((text) => text !== '').map((text) => `      ${text}`), ''].join('\n')
}

/** Reports whether the majority is away: then the tolerance of the declared servers is irrelevant. */
function isLost({ decision: { phase, holds } }: ClusterPlan): boolean {
  return phase === 'QuorumLost' || holds.some(({ guard }) => guard === 'quorum-unseen')
}

/** `Nodes: 3 to join, 1 to change.`: the planned or finished changes of the clusters. Empty if there are none. */
export function clusterCounts(looks: readonly ClusterPlan[], done = false): string {
  const all = looks.flatMap((look) => forecast(look))
  const count = (becomes: NodeForecast['becomes']) => all.filter((node) => node.becomes === becomes).length
  const words = [
    [count('joins'), done ? 'joined' : 'to join'],
    [count('changes'), done ? 'changed' : 'to change'],
    [count('replaced'), done ? 'replaced' : 'to replace'],
    [count('leaves'), done ? 'left' : 'to leave'],
  ] as const
  const parts = words.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`)
  return parts.length === 0 ? '' : `Nodes: ${parts.join(', ')}.`
}

function objection(word: string, { guard, reason, allow }: ClusterHold): readonly string[] {
  return [`${word} [${clean(guard)}]: ${clean(reason)}`, `to allow: ${clean(allow)}`]
}
