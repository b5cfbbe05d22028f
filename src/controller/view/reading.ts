import type { PassReport } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Estate } from '../../model/estate.ts'
import { maskEvent } from '../../model/masked/masked-event.ts'
import { maskManifest } from '../../model/masked/masked-manifest.ts'
import { maskTree } from '../../model/masked/masked-tree.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { Controller } from '../../server/port.ts'
import type { Revision } from '../../source/git/revision.ts'
import type { Store } from '../../store/port.ts'
import { clean } from './drifts.ts'
import { powerPreviewOf } from './power-view.ts'

/** The controller's current knowledge. */
interface ControllerState {
  readonly revision: Revision | undefined
  readonly estate: Estate | undefined
  readonly report: PassReport | undefined
}

type ControllerReads = Pick<Controller, 'history' | 'observed' | 'powerPreview' | 'manifest'>

/** Returns lookups outside the view: history, observed fields, a manifest, the preview of a switch. */
export function createReading(
  store: Pick<Store, 'events'>,
  clock: Clock,
  known: () => ControllerState,
): ControllerReads {
  return {
    async history({ key, commit, afterSeq, beforeSeq, limit }) {
      const narrow = commit !== undefined || beforeSeq !== undefined
      const all = await store.events({
        ...defined({ key, afterSeq }),
        ...(narrow ? {} : { limit }),
      })
      const found = all.filter(
        (event) =>
          (commit === undefined || event.commit === commit) && (beforeSeq === undefined || event.seq < beforeSeq),
      )
      return (afterSeq === undefined ? found.slice(-limit) : found.slice(0, limit)).map(maskEvent)
    },
    observed(key) {
      const { report } = known()
      const entry = report?.plan.entries.find((one) => one.key === key)
      const externalId = report?.records.find((one) => one.key === key)?.externalId ?? entry?.externalId
      if (report === undefined || entry === undefined || externalId === undefined) return undefined
      const seen = report.surveys
        ?.find(({ connection }) => connection === entry.connection)
        ?.resources.find((one) => one.externalId === externalId)
      const close = report.looks?.get(entry.connection)?.get(externalId)
      const observed = seen === undefined ? close : close?.close === undefined ? seen : { ...seen, close: close.close }
      return observed === undefined ? undefined : observedOf(observed)
    },
    powerPreview(target, state) {
      const look = known().report?.powers?.find(({ declaration }) => declaration.name === target)
      return look === undefined ? undefined : powerPreviewOf(look, state, clock.now())
    },
    async manifest(key) {
      const { revision, estate } = known()
      // A thing that a declaration expanded into has the place of its declaration.
      const origin = estate?.resources.find((resource) => resource.key === key)?.origin
      const declared =
        revision?.declarations.find((one) => one.key === key) ??
        revision?.declarations.find((one) => one.origin === origin)
      const text = declared === undefined ? undefined : revision?.text?.(declared)
      return text === undefined ? undefined : maskManifest(text)
    },
  }
}

/** Returns the observed fields of a resource as text. Pure; secrets are `***`. */
export function observedOf(observed: ObservedResource): Readonly<Record<string, string>> {
  const { name, host, power, lock, template, pool, memoryBytes, diskBytes, cpus, close } = observed
  const bulk = { name, host, power: close?.power ?? power, lock, template, pool, cpus, memoryBytes, diskBytes }
  const inside = { agent: close?.agent, addresses: close?.addresses?.join(', ') }
  const shown: Record<string, string> = {}
  for (const [field, value] of [...Object.entries(bulk), ...Object.entries(inside)]) put(shown, field, value)
  for (const [field, value] of Object.entries(close?.config ?? {}).slice(0, LIMITS.observedFields))
    put(shown, `config.${field}`, value)
  if (close?.pending !== undefined && close.pending.length > 0) put(shown, 'pending', close.pending.join(', '))
  return shown
}

function put(shown: Record<string, string>, field: string, value: unknown): void {
  if (value === undefined || value === null || value === '') return
  const seen = maskTree(value, field.replace(/^config\./, ''))
  const text = typeof seen === 'string' ? seen : (JSON.stringify(seen) ?? '')
  shown[clean(field).slice(0, LIMITS.foreignNameLength)] = clean(text).slice(0, LIMITS.shownValueLength)
}
