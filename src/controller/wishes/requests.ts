import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import { type ClusterRequests, NO_REQUESTS } from '../../model/observed-cluster.ts'
import { NO_POWER_REQUESTS, type PowerRequests } from '../../model/power.ts'
import { replacementSaid } from '../../plan/clusters/replace.ts'
import { rolloutId } from '../../plan/clusters/rollout.ts'
import type { Actor, Granted, Wish } from '../../server/port.ts'
import { activeRequests, type RequestsName, type Store } from '../../store/port.ts'
import { refused } from './wishes.ts'

type ClusterWish = Extract<Wish, { readonly wish: 'cluster' }>
type PowerWish = Extract<Wish, { readonly wish: 'power' }>

export interface RequestDeps {
  readonly clock: Clock
  readonly store: Pick<Store, 'getValue' | 'putRequests'>
  estate(): Estate | undefined
  /** Takes a snapshot of etcd now. Absent: not supported here. */
  snapshot?(cluster: ClusterDeclaration): Promise<Granted>
}

/** Takes requests for clusters and Powers. They go where the commands of `croft` leave theirs; the next pass reads them. */
export function createRequests(deps: RequestDeps): (wish: ClusterWish | PowerWish, actor: Actor) => Promise<Granted> {
  const keep = async (name: RequestsName, value: unknown, message: string): Promise<Granted> => {
    await deps.store.putRequests(name, JSON.stringify(value))
    return { ok: true, message }
  }
  return async (wish, actor) => {
    const estate = deps.estate()
    if (wish.wish === 'power') {
      const powers = estate?.powers ?? []
      if (!powers.some(({ name }) => name === wish.target))
        return refused('not-found', noSuchPower(wish.target, powers))
      const name: RequestsName = `power-orders/${wish.target}`
      const changed = changePower(
        await activeRequests(deps.store, name, NO_POWER_REQUESTS),
        wish,
        actor.name,
        deps.clock.now(),
      )
      return 'ok' in changed ? changed : keep(name, changed.requests, changed.message)
    }
    const cluster = estate?.clusters?.find(({ name }) => name === wish.cluster)
    if (cluster === undefined) return refused('not-found', `there is no Cluster ${wish.cluster}`)
    if (wish.order === 'snapshot')
      return deps.snapshot?.(cluster) ?? refused('refused', 'this controller cannot take snapshots')
    const name: RequestsName = `cluster-orders/${wish.cluster}`
    const changed = changeCluster(await activeRequests(deps.store, name, NO_REQUESTS), wish, cluster, deps.clock.now())
    return 'ok' in changed ? changed : keep(name, changed.requests, changed.message)
  }
}

/** Applies a person's request to the stored ones. Pure. */
export function changeCluster(
  requests: ClusterRequests,
  { order, node, member }: ClusterWish,
  { spec }: Pick<ClusterDeclaration, 'spec'>,
  nowMs: number,
): { readonly requests: ClusterRequests; readonly message: string } | Granted {
  switch (order) {
    case 'pause':
      return {
        requests: { ...requests, rolloutPaused: true },
        message: 'the rollout is paused; what has begun is finished, nothing new begins',
      }
    case 'resume': {
      const { rolloutAborted: _, ...rest } = requests
      return { requests: { ...rest, rolloutPaused: false, resumedMs: nowMs }, message: 'the rollout continues' }
    }
    case 'abort':
      return {
        requests: { ...requests, rolloutAborted: rolloutId(spec) },
        message: 'the rollout is aborted; croft uncordons every node that it cordoned for it',
      }
    case 'replace': {
      const nodes = [...spec.servers, ...spec.agents].map(({ name }) => name)
      if (node === undefined || !nodes.includes(node))
        return refused('not-found', `name one of its nodes: ${nodes.join(', ')}`)
      return {
        requests: {
          ...requests,
          replace: [...requests.replace.filter((one) => one.node !== node), { node, atMs: nowMs, goes: 'unseen' }],
        },
        message: replacementSaid(spec, node),
      }
    }
    case 'remove-member':
      if (member === undefined || !/^[0-9a-f]{1,16}$/.test(member))
        return refused('refused', 'name the member by its id, as the page shows it')
      return {
        requests: { ...requests, removeMembers: [...new Set([...requests.removeMembers, member])] },
        message: `the etcd member ${member} will be removed if it belongs to no node`,
      }
    case 'snapshot':
      return refused('refused', 'croft takes a snapshot once, not as a lasting request')
  }
}

/** The same for power. Holds expire: a forgotten one must not keep a rack awake for ever. Pure. */
export function changePower(
  requests: PowerRequests,
  { target, order, reason, untilMs, ignoreHolds }: PowerWish,
  by: string,
  nowMs: number,
): { readonly requests: PowerRequests; readonly message: string } | Granted {
  if (untilMs !== undefined && untilMs <= nowMs) return refused('refused', 'that time is in the past')
  const why = reason ?? 'asked for'
  switch (order) {
    case 'on':
    case 'off': {
      const wanted = {
        state: order,
        by,
        why,
        atMs: nowMs,
        ...(untilMs === undefined ? {} : { untilMs }),
        ...(ignoreHolds === true ? { ignoreHolds } : {}),
      }
      return { requests: { ...requests, wanted }, message: `${target} will be switched ${order}` }
    }
    case 'hold': {
      const end = Math.min(untilMs ?? nowMs + LIMITS.approvalMs, nowMs + LIMITS.approvalMs)
      const others = requests.holds.filter((hold) => hold.by !== by)
      return {
        requests: { ...requests, holds: [...others, { by, why, sinceMs: nowMs, untilMs: end }] },
        message: `${target} stays as it is until ${new Date(end).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      }
    }
    case 'release': {
      if (requests.holds.length === 0) return refused('conflict', `${target} has no hold`)
      // Ends the caller's holds; those of others only if the caller has none.
      const others = requests.holds.filter((hold) => hold.by !== by)
      const left = others.length === requests.holds.length ? [] : others
      return { requests: { ...requests, holds: left }, message: `${target} is no longer on hold` }
    }
  }
}

function noSuchPower(target: string, powers: readonly { readonly name: string }[]): string {
  return powers.length === 0
    ? `there is nothing to switch: no Power is declared`
    : `there is no Power ${target}; there are ${powers.map(({ name }) => name).join(', ')}`
}
