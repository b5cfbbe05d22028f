import { defined } from '../../../lib/defined.ts'
import { inTurns } from '../../../lib/in-turns.ts'
import type { ChartPreview } from '../../../model/plan.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import type { HelmWrite } from '../../../model/step.ts'
import type { DriverDeps } from '../../port.ts'
import { compareRenderings, NO_HELM, notRendered } from '../chart-preview.ts'
import { lookOf } from '../marks.ts'
import { type ManifestsRead, objectIn } from './reading.ts'

/** Returns the changes of a Helm run to the objects of a release, by rendering here. Undefined if there are none. */
export async function releasePreview(
  { charts, clock }: Pick<DriverDeps, 'charts' | 'clock'>,
  write: HelmWrite,
  observed: ObservedResource | undefined,
  manifests: ManifestsRead,
  signal: AbortSignal,
): Promise<ChartPreview | undefined> {
  if (charts === undefined || write.run === 'uninstall') return undefined
  const { chart, release, namespace, values, valuesFrom } = write
  const before = observed === undefined ? undefined : manifests.get(lookOf(observed).release?.record.uid ?? '')
  if (before === undefined && !charts.newPlaces)
    return notRendered('new-place', 'not rendered before it is in force: no cluster has this chart from there yet')
  // Placeholders for secret values would differ from a manifest with the values.
  if (valuesFrom !== undefined && before !== undefined)
    return notRendered('failed', 'not rendered: some of its values are secret')
  const output = { crds: before === undefined, hooks: false, tests: false }
  const request = { ...defined(chart), release, namespace, values, upgrade: before !== undefined, output }
  const after = await charts.render(request, signal)
  if (after.is === 'no-helm') return notRendered('no-helm', NO_HELM)
  if (after.is === 'failed') return notRendered('failed', after.message)
  const placed = (objects: readonly unknown[]) => objects.flatMap((one) => objectIn(one, namespace) ?? [])
  return inTurns(
    compareRenderings(before, placed(after.objects), after.again === undefined ? undefined : placed(after.again)),
    clock,
  )
}
