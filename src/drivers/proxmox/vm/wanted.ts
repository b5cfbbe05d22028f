import type { Resource } from '../../../model/resource.ts'
import type { Mark } from '../../../model/sighting.ts'
import type { VmSpec } from '../../../model/vm.ts'
import type { Params, VmWanted } from './option.ts'
import { OPTIONS } from './options.ts'

/** How far the seed has got. */
export type SeedMark = Pick<Mark, 'seed' | 'seeding' | 'unseeding'>

/** `seed` is a fact about the guest and no wish: it stays in the mark as it is, whatever else is written. */
export function wantedOf(resource: Resource, vm: VmSpec, externalId: string, seed: SeedMark = {}): VmWanted {
  const mark: Mark = {
    uid: resource.uid,
    owner: resource.key,
    ...(resource.estate === undefined ? {} : { estate: resource.estate }),
    deletion: resource.policy.deletion,
    ...(seed.seed === undefined ? {} : { seed: seed.seed }),
    ...(seed.seeding === undefined ? {} : { seeding: seed.seeding }),
    ...(seed.unseeding === undefined ? {} : { unseeding: seed.unseeding }),
  }
  return { spec: vm, mark, externalId }
}

/** All parameters of a creation. Also tells which keys of a configuration a declaration has a say in. */
export function createParams(wanted: VmWanted): Params {
  const params: Params = { vmid: wanted.externalId }
  for (const option of OPTIONS) option.create(wanted, params)
  if (wanted.spec.pool !== undefined) params.pool = wanted.spec.pool
  return params
}
