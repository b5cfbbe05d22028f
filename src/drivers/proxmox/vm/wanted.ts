import { defined } from '../../../lib/defined.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Mark } from '../../../model/sighting.ts'
import type { Wanted } from '../option.ts'
import type { Params, VmWanted } from './option.ts'
import { OPTIONS } from './options.ts'

/** How far the seed has got. */
export type SeedMark = Pick<Mark, 'seed' | 'seeding' | 'unseeding'>

/** Facts about the guest and no wishes: they stay in the mark as they are, whatever else is written. */
export type MarkFacts = SeedMark & Pick<Mark, 'devices'>

export function wantedOf<Spec>(
  resource: Resource,
  spec: Spec,
  externalId: string,
  seed: MarkFacts = {},
  pending: readonly string[] = [],
): Wanted<Spec> {
  const mark: Mark = {
    uid: resource.uid,
    owner: resource.key,
    ...defined({ estate: resource.estate }),
    deletion: resource.policy.deletion,
    ...defined({ devices: seed.devices, seed: seed.seed, seeding: seed.seeding, unseeding: seed.unseeding }),
  }
  return { spec, mark, externalId, pending }
}

/** All parameters of a creation. Also tells which keys of a configuration a declaration has a say in. */
export function createParams(wanted: VmWanted): Params {
  const params: Params = { vmid: wanted.externalId }
  for (const option of OPTIONS) option.create(wanted, params)
  if (wanted.spec.pool !== undefined) params.pool = wanted.spec.pool
  return params
}
