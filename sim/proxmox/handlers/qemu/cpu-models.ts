import { may } from '../../../world/access.ts'
import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, deletions, list } from '../collection.ts'
import { textOf } from '../shelf.ts'

/** Processors that an administrator puts together. Their names carry a prefix when they are shown and used. */
const MODELS: Collection = {
  at: '/cluster/qemu/custom-cpu-models',
  key: 'cputype',
  shelf: 'cpu-models',
  sections: '',
  idOf: (call) => param(call, 'cputype').replace(/^custom-/, ''),
  exists: (id) => failed(`custom CPU model '${id}' already exists`),
  missing: (id, verb) =>
    failed(verb === 'read' ? `Custom cputype '${id}' not found` : `custom CPU model '${id}' does not exist`),
  refuseChange: (call) => {
    for (const name of ['cputype', 'reported-model'])
      if (deletions(call).includes(name)) throw failed(`cannot delete '${name}'`)
  },
  prepare: (_, thing, id) => {
    if (!/^[a-z][a-z0-9_-]+$/i.test(id)) throw failed(`invalid configuration ID '${id}'`)
    return thing
  },
  sees: (call, id) => seesModel(call, id),
  row: (_, thing, id) => ({ ...thing, cputype: `custom-${id}` }),
  // What is off says nothing where it is read by itself.
  one: (_, thing, _id, digest) => ({
    ...Object.fromEntries(Object.entries(thing).filter(([, value]) => value !== 0 && value !== '')),
    digest,
  }),
  listed: (_, thing, _id, digest) => ({ ...thing, digest }),
}

export function seesModel(call: Call, id: string): boolean {
  return ['Mapping.Modify', 'Mapping.Use', 'Mapping.Audit'].some((right) =>
    may(call.world, call.who, `/mapping/cpu/${id}`, right),
  )
}

export const cpuModelRoutes: Routes = {
  ...collectionRoutes(MODELS),
  'GET /cluster/qemu/custom-cpu-models': (call) =>
    list(MODELS, call).sort((a, b) => (textOf(a.cputype) < textOf(b.cputype) ? -1 : 1)),
}
