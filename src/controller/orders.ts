import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { ClusterDeclaration, Estate } from '../model/estate.ts'
import { type ClusterOrders, NO_ORDERS } from '../model/observed-cluster.ts'
import { NO_POWER_ORDERS, type PowerOrders } from '../model/power.ts'
import { rolloutId } from '../plan/clusters/rollout.ts'
import type { Actor, Granted, Wish } from '../server/port.ts'
import { activeOrders, type OrderName, type Store } from '../store/port.ts'

type ClusterWish = Extract<Wish, { readonly wish: 'cluster' }>
type PowerWish = Extract<Wish, { readonly wish: 'power' }>

export interface OrderDeps {
  readonly clock: Clock
  readonly store: Pick<Store, 'getValue' | 'putOrder'>
  estate(): Estate | undefined
  /** Takes a snapshot of etcd now. Absent: nobody here can. */
  snapshot?(cluster: ClusterDeclaration): Promise<Granted>
}

/** Takes orders for clusters and for power. They go where the commands of `croft` leave theirs; the next pass reads them. */
export function createOrders(deps: OrderDeps): (wish: ClusterWish | PowerWish, actor: Actor) => Promise<Granted> {
  const keep = async (name: OrderName, value: unknown, message: string): Promise<Granted> => {
    await deps.store.putOrder(name, JSON.stringify(value))
    return { ok: true, message }
  }
  return async (wish, actor) => {
    const estate = deps.estate()
    if (wish.wish === 'power') {
      const powers = estate?.powers ?? []
      if (!powers.some(({ name }) => name === wish.target))
        return refused('not-found', noSuchPower(wish.target, powers))
      const name: OrderName = `power-orders/${wish.target}`
      const changed = changePower(
        await activeOrders(deps.store, name, NO_POWER_ORDERS),
        wish,
        actor.name,
        deps.clock.now(),
      )
      return 'ok' in changed ? changed : keep(name, changed.orders, changed.message)
    }
    const cluster = estate?.clusters?.find(({ name }) => name === wish.cluster)
    if (cluster === undefined) return refused('not-found', `there is no Cluster ${wish.cluster}`)
    if (wish.order === 'snapshot')
      return deps.snapshot?.(cluster) ?? refused('refused', 'this controller cannot take snapshots')
    const name: OrderName = `cluster-orders/${wish.cluster}`
    const changed = changeCluster(await activeOrders(deps.store, name, NO_ORDERS), wish, cluster, deps.clock.now())
    return 'ok' in changed ? changed : keep(name, changed.orders, changed.message)
  }
}

/** What a person's order makes of the orders that stand. Pure. */
export function changeCluster(
  orders: ClusterOrders,
  { order, node, member }: ClusterWish,
  { spec }: Pick<ClusterDeclaration, 'spec'>,
  nowMs: number,
): { readonly orders: ClusterOrders; readonly message: string } | Granted {
  switch (order) {
    case 'pause':
      return {
        orders: { ...orders, rolloutPaused: true },
        message: 'the rollout is paused; what has begun is finished, nothing new begins',
      }
    case 'resume': {
      const { rolloutAborted: _, ...rest } = orders
      return { orders: { ...rest, rolloutPaused: false, resumedMs: nowMs }, message: 'the rollout continues' }
    }
    case 'abort':
      return {
        orders: { ...orders, rolloutAborted: rolloutId(spec) },
        message: 'the rollout is aborted; croft uncordons every node that it cordoned for it',
      }
    case 'replace': {
      const nodes = [...spec.servers, ...spec.agents].map(({ name }) => name)
      if (node === undefined || !nodes.includes(node))
        return refused('not-found', `name one of its nodes: ${nodes.join(', ')}`)
      return {
        orders: { ...orders, replace: [...orders.replace.filter((one) => one.node !== node), { node, atMs: nowMs }] },
        message: `${node} will be replaced: cordoned, drained, removed from etcd, recreated, joined`,
      }
    }
    case 'remove-member':
      if (member === undefined || !/^[0-9a-f]{1,16}$/.test(member))
        return refused('refused', 'name the member by its id, as the page shows it')
      return {
        orders: { ...orders, removeMembers: [...new Set([...orders.removeMembers, member])] },
        message: `the etcd member ${member} will be removed if it belongs to no node`,
      }
    case 'snapshot':
      return refused('refused', 'croft takes a snapshot once, not as a lasting request')
  }
}

/** The same for power. A hold ends by itself: nobody may forget one and keep a rack awake for ever. Pure. */
export function changePower(
  orders: PowerOrders,
  { target, order, reason, untilMs, ignoreHolds }: PowerWish,
  by: string,
  nowMs: number,
): { readonly orders: PowerOrders; readonly message: string } | Granted {
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
      return { orders: { ...orders, wanted }, message: `${target} will be switched ${order}` }
    }
    case 'hold': {
      const end = Math.min(untilMs ?? nowMs + LIMITS.approvalMs, nowMs + LIMITS.approvalMs)
      const others = orders.holds.filter((hold) => hold.by !== by)
      return {
        orders: { ...orders, holds: [...others, { by, why, sinceMs: nowMs, untilMs: end }] },
        message: `${target} stays as it is until ${new Date(end).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      }
    }
    case 'release': {
      if (orders.holds.length === 0) return refused('conflict', `nobody holds ${target}`)
      // One's own first; somebody else's only where that is all there is.
      const others = orders.holds.filter((hold) => hold.by !== by)
      const left = others.length === orders.holds.length ? [] : others
      return { orders: { ...orders, holds: left }, message: `${target} is no longer on hold` }
    }
  }
}

function noSuchPower(target: string, powers: readonly { readonly name: string }[]): string {
  return powers.length === 0
    ? `there is nothing to switch: no Power is declared`
    : `there is no Power ${target}; there are ${powers.map(({ name }) => name).join(', ')}`
}

function refused(reason: Exclude<Granted, { ok: true }>['reason'], message: string): Granted {
  return { ok: false, reason, message }
}
