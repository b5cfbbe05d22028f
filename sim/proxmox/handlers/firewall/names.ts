import { type ApiError, badParameter, failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, list, refuseStale } from '../collection.ts'
import { digestOf, fields, type Thing } from '../shelf.ts'
import { CLUSTER_PLACE, findAlias, isGuest, members, names, place } from './place.ts'

/** Names for one address (aliases) and for many (sets). */
export function firewallNameRoutes(at: string): Routes {
  return { ...aliasRoutes(at), ...setRoutes(at), ...memberRoutes(`${at}/ipset/{name}`) }
}

function aliasRoutes(at: string): Routes {
  const spec: Collection = {
    at: `${at}/aliases`,
    key: 'name',
    shelf: (call) => `${place(call)}/aliases`,
    // Known in small letters, and shown as it was written.
    idOf: (call) => param(call, 'name').toLowerCase(),
    exists: (_, written) => badParameter('name', `alias '${written}' already exists`),
    missing: (_, verb) => (verb === 'delete' ? undefined : badParameter('name', 'no such alias')),
    row: (_, thing) => ({ ...thing, ipversion: String(thing.cidr).includes(':') ? 6 : 4 }),
    // A change rewrites the whole line: it deletes a comment that the call does not repeat.
    prepare: (call, { cidr }, _, old) => ({
      name: old?.name ?? param(call, 'name'),
      cidr,
      ...(call.params.comment === undefined ? {} : { comment: call.params.comment }),
    }),
    one: (_, thing) => thing,
    listed: (_, thing, _id, digest) => ({ ...thing, digest }),
  }
  const routes = collectionRoutes(spec)
  return {
    ...routes,
    [`GET ${at}/aliases`]: (call) => sorted(list(spec, call), 'name'),
    [`PUT ${at}/aliases/{name}`]: (call) => {
      const all = names(call.world, place(call), 'aliases')
      const to = call.params.rename?.toLowerCase()
      const from = param(call, 'name').toLowerCase()
      if (to !== undefined && to !== from && all.has(to)) throw spec.exists(to, call.params.rename ?? '')
      routes[`PUT ${at}/aliases/{name}`]?.(call)
      const alias = all.get(from)
      if (alias !== undefined && call.params.rename !== undefined) alias.name = call.params.rename
      renamed(all, from, to)
      return null
    },
  }
}

function setRoutes(at: string): Routes {
  const spec: Collection = {
    at: `${at}/ipset`,
    key: 'name',
    shelf: (call) => `${place(call)}/ipset`,
    exists: (id) => badParameter('name', `IPSet '${id}' already exists`),
    missing: noSet,
    refuseRemoval: (call, id) => {
      if (members(call.world, place(call), id).size > 0 && !flag(call, 'force'))
        throw failed(`IPSet '${id}' is not empty`)
    },
    removed: (call, id) => members(call.world, place(call), id).clear(),
  }
  const routes = collectionRoutes(spec)
  return {
    [`GET ${at}/ipset`]: (call) => sorted(list(spec, call), 'name'),
    [`DELETE ${at}/ipset/{name}`]: routes[`DELETE ${at}/ipset/{name}`] ?? (() => null),
    [`POST ${at}/ipset`]: (call) =>
      call.params.rename === undefined ? routes[`POST ${at}/ipset`]?.(call) : rename(call),
  }
}

function noSet(id: string): ApiError {
  return failed(`no such IPSet '${id}'`)
}

/** `rename` is the old name, `name` the new one. Both the same: only the comment changes. */
function rename(call: Call): null {
  const { world } = call
  const at = place(call)
  const from = param(call, 'rename')
  const to = param(call, 'name')
  const sets = names(world, at, 'ipset')
  const set = sets.get(from)
  if (set === undefined) throw badParameter('name', `IPSet '${from}' does not exist`)
  if (from !== to && sets.has(to)) throw badParameter('name', `IPSet '${to}' does already exist`)
  if (call.params.comment !== undefined) set.comment = call.params.comment
  renamed(sets, from, to)
  const inside = [...members(world, at, from)]
  if (from === to) return null
  members(world, at, from).clear()
  for (const [cidr, member] of inside) members(world, at, to).set(cidr, member)
  return null
}

function renamed(all: Map<string, Thing>, from: string, to: string | undefined): void {
  const thing = all.get(from)
  if (to === undefined || to === from || thing === undefined) return
  all.delete(from)
  all.set(to, thing)
}

function memberRoutes(at: string): Routes {
  const needSet = (call: Call) => {
    const id = param(call, 'name')
    if (!names(call.world, place(call), 'ipset').has(id)) throw noSet(id)
    return members(call.world, place(call), id)
  }
  const need = (call: Call) => {
    const member = needSet(call).get(param(call, 'cidr'))
    if (member === undefined) throw badParameter('cidr', 'no such IP/Network')
    return member
  }
  const digest = (call: Call) => digestOf([...needSet(call)])
  return {
    [`GET ${at}`]: (call) =>
      sorted([...needSet(call).values()], 'cidr').map((one) => ({ ...one, digest: digest(call) })),
    [`POST ${at}`]: (call) => {
      const set = needSet(call)
      const cidr = param(call, 'cidr')
      checkMember(call, cidr)
      if (set.has(cidr)) throw badParameter('cidr', `address '${cidr}' already exists`)
      set.set(cidr, member(fields(call, 'name')))
      return null
    },
    [`GET ${at}/{cidr}`]: (call) => ({ ...need(call), digest: digest(call) }),
    [`PUT ${at}/{cidr}`]: (call) => {
      const old = need(call)
      refuseStale(call, digest(call))
      needSet(call).set(param(call, 'cidr'), member({ ...old, ...fields(call, 'name') }))
      return null
    },
    [`DELETE ${at}/{cidr}`]: (call) => {
      refuseStale(call, digest(call))
      needSet(call).delete(param(call, 'cidr'))
      return null
    },
  }
}

/** A mark that is not set is not written down. */
function member({ nomatch, ...thing }: Thing): Thing {
  return nomatch === 1 ? { ...thing, nomatch } : thing
}

function checkMember(call: Call, cidr: string): void {
  if (cidr.endsWith('/0')) throw badParameter('cidr', 'a zero prefix is not allowed in ipset entries')
  if (/^[0-9a-f:.]+(\/\d+)?$/i.test(cidr) || /-/.test(cidr)) return
  if (findAlias(call.world, place(call), cidr) === undefined)
    throw failed(`no such alias '${cidr.replace(/^(dc|guest)\//, '')}'`)
}

/** Everything that a rule here could name. */
export function refs(call: Call): Thing[] {
  const at = place(call)
  const scopes = isGuest(at)
    ? [
        { at: CLUSTER_PLACE, scope: 'dc' },
        { at, scope: 'guest' },
      ]
    : [{ at: CLUSTER_PLACE, scope: 'dc' }]
  return scopes.flatMap(({ at: from, scope }) =>
    (['ipset', 'alias'] as const)
      .filter((type) => call.params.type === undefined || call.params.type === type)
      .flatMap((type) =>
        [...names(call.world, from, type === 'alias' ? 'aliases' : 'ipset')].map(([name, thing]) => ({
          type,
          name,
          scope,
          ref: type === 'ipset' ? `+${name}` : name,
          ...(thing.comment === undefined ? {} : { comment: thing.comment }),
        })),
      ),
  )
}

function sorted(rows: Thing[], key: string): Thing[] {
  return rows.sort((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1))
}
