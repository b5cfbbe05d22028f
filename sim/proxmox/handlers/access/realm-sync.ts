import { badParameter, failed } from '../../api-error.ts'
import type { Routes } from '../../call.ts'
import { type Collection, collectionRoutes } from '../collection.ts'
import { nextRun } from '../storage/calendar.ts'

/** Jobs that fetch users from a directory at set times. */
const JOBS: Collection = {
  at: '/cluster/jobs/realm-sync',
  key: 'id',
  madeInPlace: true,
  shelf: 'jobs/realm-sync',
  exists: (id) => failed(`Job '${id}' already exists`),
  missing: (id, verb) =>
    verb === 'read' ? badParameter('id', `No such job '${id}'`) : failed(`no such realm-sync job '${id}'`),
  prepare: (_, thing) => {
    for (const name of ['realm', 'scope'])
      if (thing[name] === undefined) throw failed(`missing value for required option '${name}'`)
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

export const realmSyncRoutes: Routes = {
  'GET /cluster/jobs': () => ['schedule-analyze', 'realm-sync'].map((subdir) => ({ subdir })),
  ...collectionRoutes(JOBS),
}
