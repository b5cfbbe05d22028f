import { failed } from '../../api-error.ts'
import { param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, deletions } from '../collection.ts'

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
  row: (_, thing, id) => ({ ...thing, cputype: `custom-${id}` }),
  listed: (_, thing, _id, digest) => ({ ...thing, digest }),
}

export const cpuModelRoutes: Routes = collectionRoutes(MODELS)
