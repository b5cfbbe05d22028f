import { at, type Foreign, recordOf } from '../../kubernetes/objects.ts'
import { withConditions } from '../status.ts'
import type { InstanceDecision, SaidOfInstance } from './decide.ts'

/** The project whose conditions and fields an object uses. */
export type ApiDialect = 'kro' | 'crossplane'

export function dialectOf(definition: string): ApiDialect {
  return definition.startsWith('ResourceGraphDefinition/') ? 'kro' : 'crossplane'
}

/** The judgement of a definition. */
export interface DefinitionVerdict {
  /** Its problems, each with the field. */
  readonly problems: readonly string[]
  /** Why its instances are not served. */
  readonly unserved: string | undefined
  /** Instances that keep it from being deleted. */
  readonly holding: readonly string[]
  /** Ids of its resources in the order in which they are made. */
  readonly order: readonly string[]
}

/** Returns the new status of an instance, or undefined if it is unchanged. Pure. */
export function instanceStatus(
  object: Foreign,
  dialect: ApiDialect,
  { synced, ready }: Pick<InstanceDecision, 'synced' | 'ready'>,
  projected: Foreign,
  nowMs: number,
): Foreign | undefined {
  const state =
    synced.status === 'False'
      ? 'ERROR'
      : ready.status === 'True'
        ? 'ACTIVE'
        : ready.reason === 'Deleting'
          ? 'DELETING'
          : 'IN_PROGRESS'
  const conditions =
    dialect === 'kro'
      ? [
          { type: 'GraphResolved', ...synced },
          { type: 'ResourcesReady', ...ready },
          { type: 'Synced', ...synced },
          { type: 'Ready', ...(synced.status === 'False' ? synced : ready) },
        ]
      : [
          { type: 'Synced', ...asCrossplane(synced) },
          { type: 'Ready', ...ready },
        ]
  return differing(object, conditions, { ...projected, ...(dialect === 'kro' ? { state } : {}) }, nowMs)
}

function asCrossplane({ status, reason, message }: SaidOfInstance): SaidOfInstance {
  return {
    status,
    reason: status === 'True' ? 'ReconcileSuccess' : reason === 'Refused' ? 'ReconcileError' : reason,
    message,
  }
}

/** Returns the new status of a definition, or undefined if it is unchanged. Pure. */
export function definitionStatus(
  object: Foreign,
  dialect: ApiDialect,
  { problems, unserved, holding, order }: DefinitionVerdict,
  nowMs: number,
): Foreign | undefined {
  const deleting = at(object, 'metadata', 'deletionTimestamp') !== undefined
  const good = (reason: string): SaidOfInstance => ({ status: 'True', reason, message: '' })
  const bad = (reason: string, message: string): SaidOfInstance => ({ status: 'False', reason, message })
  const accepted =
    problems.length === 0
      ? good('Valid')
      : bad(dialect === 'kro' ? 'InvalidResourceGraph' : 'Invalid', problems.slice(0, 5).join('; '))
  const served = unserved === undefined ? good('Ready') : bad('NotServed', unserved)
  const held =
    deleting && holding.length > 0
      ? bad(
          'DeletionHeld',
          `it is kept while instances of it live: ${holding.slice(0, 5).join(', ')}${holding.length > 5 ? ` and ${holding.length - 5} more` : ''}; delete them first`,
        )
      : undefined
  const ready = held ?? [accepted, served].find(({ status }) => status !== 'True') ?? good('Ready')
  if (dialect === 'crossplane')
    return differing(
      object,
      [
        { type: 'Established', ...(unserved === undefined ? good('WatchingCompositeResource') : served) },
        { type: 'Synced', ...(held ?? accepted) },
      ],
      {},
      nowMs,
    )
  return differing(
    object,
    [
      { type: 'GraphAccepted', ...accepted },
      { type: 'KindReady', ...served },
      { type: 'Ready', ...ready },
    ],
    {
      state: ready.status === 'True' || held !== undefined ? 'Active' : 'Inactive',
      ...(problems.length === 0 ? { topologicalOrder: order } : {}),
    },
    nowMs,
  )
}

function differing(
  object: Foreign,
  wanted: Parameters<typeof withConditions>[1],
  fields: Foreign,
  nowMs: number,
): Foreign | undefined {
  const { conditions, differs } = withConditions(object, wanted, nowMs)
  const there = recordOf(object.status)
  const news = Object.entries(fields).filter(([name, value]) => JSON.stringify(there[name]) !== JSON.stringify(value))
  if (!differs && news.length === 0) return undefined
  return { ...Object.fromEntries(news), ...(differs ? { conditions } : {}) }
}
