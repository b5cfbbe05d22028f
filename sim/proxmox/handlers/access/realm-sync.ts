import { type ApiError, badParameter, failed } from '../../api-error.ts'
import type { Routes } from '../../call.ts'
import { type Collection, collectionRoutes } from '../collection.ts'
import { fields, shelf, textOf } from '../shelf.ts'
import { nextRun } from '../storage/calendar.ts'

/** Jobs that fetch users from a directory at set times. */
const JOBS: Collection = {
  at: '/cluster/jobs/realm-sync',
  key: 'id',
  madeInPlace: true,
  shelf: 'jobs/realm-sync',
  exists: (id) => failed(`Job '${id}' already exists`),
  missing: (id, verb) => {
    if (verb === 'update') return failed('no such realm-sync job')
    return verb === 'read' ? badParameter('id', `No such job '${id}'`) : inLock('id', `No such job '${id}'`)
  },
  refuseChange: (call) => {
    const given = Object.keys(fields(call, 'id'))
    if (given.length === 0) throw failed('no job options specified')
    if (given.includes('realm')) throw failed("can't change value of fixed parameter 'realm'")
  },
  sections: '',
  prepare: (call, thing, _, old) => {
    for (const name of ['realm', 'scope'])
      if (thing[name] === undefined)
        throw failed(
          old === undefined
            ? `missing value for required option '${name}'`
            : `unable to delete required option '${name}'`,
        )
    if (old !== undefined) return thing
    const realm = textOf(thing.realm)
    const type = realm === 'pam' || realm === 'pve' ? realm : shelf(call.world, 'realms').get(realm)?.type
    if (type === undefined) throw inLock('realm', `No such realm '${realm}'`)
    if (type !== 'ldap' && type !== 'ad') throw inLock('realm', 'Only LDAP/AD realms can be synced.')
    return { enabled: 1, ...thing }
  },
  row: (_, thing) => ({ ...thing, type: 'realm-sync' }),
  one: (_, thing) => thing,
  listed: (call, thing, id) => ({
    ...thing,
    id,
    'last-run': null,
    'next-run': nextRun(String(thing.schedule), call.world.clock.now()),
  }),
}

/** What is found wrong while the file is locked has lost its form on the way out: the number is part of the text. */
function inLock(name: string, text: string): ApiError {
  return failed(`400 Parameter verification failed.\n${name}: ${text}`)
}

export const realmSyncRoutes: Routes = {
  'GET /cluster/jobs': () => ['schedule-analyze', 'realm-sync'].map((subdir) => ({ subdir })),
  ...collectionRoutes(JOBS),
}
