import type { ResourceKey } from '../../model/declaration.ts'
import type { Action, Doing } from '../../model/plan.ts'
import type { Guard, GuardContext } from './guard.ts'

/** Splits the key of a part into its add-on and its name in the cluster: `Addon/shop@Service/shop/web`. */
function partOf(key: ResourceKey): { readonly addon: string; readonly id: string } | undefined {
  const at = key.indexOf('@')
  return at === -1 ? undefined : { addon: key.slice(0, at), id: key.slice(at + 1) }
}

const RELEASE = 'Release.helm.sh/'

/**
 * Holds deletions when a chart changes between croft and Helm as installer: old and new objects are the same ones, so
 * deleting the old would delete the new.
 */
export const installChanged: Guard = {
  name: 'install-changed',
  stops: 'deleting the objects of a chart, or its Helm release, while the same chart is to be installed the other way',
  judge(action, { entry }, context) {
    const part = partOf(entry.key)
    if (part === undefined) return action
    if (part.id.startsWith(RELEASE))
      return action.do === 'delete'
        ? toApply(action, entry.key, context)
        : action.do === 'create' || action.do === 'adopt'
          ? toHelm(action, part.addon, context)
          : action
    if (action.do !== 'delete') return action
    const waiting = context.estate.resources.some(
      ({ key }) => key.startsWith(`${part.addon}@${RELEASE}`) && context.unseen?.has(key) === true,
    )
    return waiting ? toHelm(action, part.addon, context) : action
  },
}

function toHelm(action: Action & Doing, addon: string, { leaving = [] }: GuardContext): Action {
  const going = leaving.filter(({ key, deletion }) => deletion === 'Delete' && key.startsWith(`${addon}@`))
  if (going.length === 0) return action
  return {
    do: 'refuse',
    guard: 'install-changed',
    reason: `${addon} changes from install: apply to install: helm, and croft would delete ${going.length} objects that Helm is to keep`,
    allow: 'say install: apply and prune: none and apply that, then install: helm with adopt: true',
  }
}

function toApply(action: Action & Doing, key: ResourceKey, { leaving = [], estate }: GuardContext): Action {
  const removal = leaving.find((one) => one.key === key)
  const brought = new Set(removal?.observed.brings ?? [])
  const connection = removal?.observed.connection
  const declared = estate.resources.filter(
    (one) => one.connection === connection && brought.has(partOf(one.key)?.id ?? ''),
  )
  const [first] = declared
  if (first === undefined) return action
  const { name = '', externalId = '' } = removal?.observed ?? {}
  const namespace = externalId.split('/').at(-2) ?? ''
  return {
    do: 'refuse',
    guard: 'install-changed',
    reason: `${key} would be uninstalled with ${declared.length} objects that are declared (${first.key})`,
    allow: `to keep them and let Helm forget the release, run: kubectl delete secret -n ${namespace} -l owner=helm,name=${name}; then set adopt: true and force: true`,
  }
}
