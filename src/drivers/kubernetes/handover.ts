import { POWER_MANAGER } from '../../kubernetes/managers.ts'
import { annotationsOf, at, type Foreign, labelsOf, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { WantedObject } from '../../model/kube-object.ts'
import { entriesOf, leavesOf, MANAGER, ownedBy, REST_MANAGER, shownPath } from './fields.ts'
import { appliedHash, isMarkField, type KeeperDetails, keeperOf, markOf, type ObjectDetails } from './marks.ts'

/** An object's keeper and the next step. There is one keeper at any time. */
export type HandoverStep =
  /** croft keeps it: no handover is declared, or the new keeper is not there yet. */
  | { readonly do: 'keep'; readonly message?: string }
  /** croft still owns it and the new keeper is active: two writers would undo each other, so croft writes nothing. */
  | { readonly do: 'stand-by'; readonly message: string }
  /** The new keeper owns every field that croft owns: release croft's. */
  | { readonly do: 'release' }
  /** Another keeper's: only observe. */
  | { readonly do: 'watch' }
  /** croft should take it back, but the other keeper is still active. */
  | { readonly do: 'await'; readonly message: string }
  /** The keeper is gone: own its fields again, remove its name from them, and mark the object as croft's. */
  | { readonly do: 'take-back'; readonly ours: boolean; readonly managers: readonly string[] }

/** The field managers of agents. Entries that they leave behind keep their fields forever. */
const AGENTS: Readonly<Record<string, readonly string[]>> = {
  argocd: ['argocd-controller'],
  flux: ['kustomize-controller', 'helm-controller'],
}

/** Returns the next step from declaration and observation. Pure. */
export function handoverStep(wanted: WantedObject, look: ObjectDetails): HandoverStep {
  const { keptBy, applied } = markOf(look.object) ?? {}
  const meant = keeperOf(wanted)
  if (keptBy !== undefined && keptBy === meant) return { do: 'watch' }
  if (keptBy !== undefined) {
    // Taken back, or given to another keeper: first it must be ours again, and the former keeper gone.
    if (look.keeper?.there === true)
      return { do: 'await', message: `${shownKeeper(keptBy)} still keeps it and goes first` }
    const managers = (AGENTS[keptBy.split(' ')[0] ?? ''] ?? []).filter(
      (name) => ownedBy(look.object, name) !== undefined,
    )
    return { do: 'take-back', ours: applied === appliedHash(wanted), managers }
  }
  if (meant === undefined) return { do: 'keep' }
  const shown = shownKeeper(meant)
  const { keeper } = look
  if (keeper === undefined || !keeper.there)
    return { do: 'keep', message: `goes over to ${shown} when that is in sync` }
  if (!keeper.synced || !keeper.healthy) return { do: 'stand-by', message: `${shown}: ${keeper.message}` }
  // A chart is installed by its job, and its objects belong to their agent: no agent owns the chart itself.
  if (look.object.kind === 'HelmChart') return { do: 'release' }
  const alone = onlyOurs(look.object)
  if (alone.length > 0) {
    const fields = alone.slice(0, 3).map(shownPath).join(', ')
    return { do: 'stand-by', message: `${shown} does not keep ${fields}: giving it up would take it away` }
  }
  return { do: 'release' }
}

/** Formats a mark for people: `argocd (Application.argoproj.io/argocd/cilium)`. */
function shownKeeper(mark: string): string {
  const [to = '', , id = ''] = mark.split(' ')
  return `${to} (${id})`
}

/** Returns fields that would be lost if croft released them, because croft alone owns them. */
export function onlyOurs(object: Foreign): readonly string[] {
  return lostWith(
    object,
    entriesOf(object).filter((entry) => entry.manager !== MANAGER),
  )
}

/** Programs that own what they apply, and sometimes write without server-side apply. */
const APPLIERS: ReadonlySet<unknown> = new Set([...Object.values(AGENTS).flat(), 'helm', 'kubectl-client-side-apply'])

/** Returns the other applier that keeps every field that croft keeps. */
export function keeperBesides(object: Foreign): string | undefined {
  const own = new Set<unknown>([MANAGER, REST_MANAGER, POWER_MANAGER])
  const appliers = entriesOf(object).filter(
    ({ manager, operation }) => !own.has(manager) && (operation === 'Apply' || APPLIERS.has(manager)),
  )
  const keeper = appliers.find(
    ({ manager }) =>
      lostWith(
        object,
        appliers.filter((entry) => entry.manager === manager),
      ).length === 0,
  )
  return textOf(keeper?.manager)
}

function lostWith(object: Foreign, others: readonly Foreign[]): readonly string[] {
  const kept = new Set(others.flatMap((entry) => [...leavesOf(entry.fieldsV1 as Foreign)]))
  const covered = [...kept]
  return [...leavesOf(ownedBy(object, MANAGER))].filter(
    (path) =>
      !isMarkField(path) &&
      !kept.has(path) &&
      !covered.some((one) => path.startsWith(`${one}\n`) || one.startsWith(`${path}\n`)),
  )
}

/** Reports whether another applier also applies croft's mark, as from a manifest copied from the cluster. */
export function isMarkCopied(object: Foreign): boolean {
  return entriesOf(object).some(
    ({ manager, fieldsV1 }) => manager !== MANAGER && [...leavesOf(fieldsV1 as Foreign)].some(isMarkField),
  )
}

/** Marks by which agents find their objects, which croft does not apply itself. */
const TRACKING: readonly (readonly [field: 'labels' | 'annotations', name: string, agent: string])[] = [
  ['labels', 'kustomize.toolkit.fluxcd.io/name', 'the Kustomization of Flux'],
  ['labels', 'helm.toolkit.fluxcd.io/name', 'the HelmRelease of Flux'],
  ['annotations', 'argocd.argoproj.io/tracking-id', 'the Application of Argo CD'],
]

/** Returns the agent whose own mark is on the object: `the Kustomization of Flux apps`. */
export function trackedBy(object: Foreign): string | undefined {
  const ours = leavesOf(ownedBy(object, MANAGER))
  for (const [field, name, agent] of TRACKING) {
    const value = (field === 'labels' ? labelsOf(object) : annotationsOf(object)).get(name)
    if (value !== undefined && !ours.has(`f:metadata\nf:${field}\nf:${name}`))
      return `${agent} ${cleanText(value.split(':')[0] ?? '')}`
  }
  return undefined
}

/** Returns the state of an Application, HelmRelease or Kustomization. Undefined: it is missing. */
export function keeperLook(object: Foreign | undefined): KeeperDetails {
  if (object === undefined) return { there: false, synced: false, healthy: false, message: 'it is not there' }
  if (object.kind === 'Application') {
    const [sync, health] = [
      textOf(at(object, 'status', 'sync', 'status')),
      textOf(at(object, 'status', 'health', 'status')),
    ]
    // Argo CD reports an Application's errors in conditions that exist only during the error.
    const trouble = recordsOf(at(object, 'status', 'conditions')).flatMap(({ type, message }) =>
      typeof type === 'string' && type.endsWith('Error') ? [`${type}: ${textOf(message) ?? ''}`] : [],
    )
    const message = [`${sync ?? 'not synced yet'}, health ${health ?? 'unknown'}`, ...trouble].join('; ')
    return { there: true, synced: sync === 'Synced', healthy: health === 'Healthy', message }
  }
  const ready = recordsOf(at(object, 'status', 'conditions')).find(({ type }) => type === 'Ready')
  const [generation, observed] = [at(object, 'metadata', 'generation'), at(object, 'status', 'observedGeneration')]
  const seen = typeof generation !== 'number' || (typeof observed === 'number' && observed >= generation)
  const well = ready?.status === 'True' && seen
  return { there: true, synced: well, healthy: well, message: textOf(ready?.message) ?? 'not Ready yet' }
}
