import type { Declaration } from '../../model/declaration.ts'
import type { ResourceKey } from '../../model/key.ts'
import type { VmSpec } from '../../model/vm.ts'
import type { Lookup } from '../kind.ts'

/** The declared VM that another one is cloned from must be there first. One that nobody declared must exist. */
export function cloneNeeds(vm: VmSpec, { key }: Declaration, lookup: Lookup): readonly ResourceKey[] {
  const source = vm.clone?.vmid
  if (source === undefined) return []
  const declared = lookup
    .all('EnvironmentVM')
    .filter((one) => vmidOf(one.spec) === source)
    .map((one) => one.key)
  return declared.filter((one) => one !== key)
}

function vmidOf(spec: unknown): number | undefined {
  const { forProvider, initProvider } = spec as { forProvider?: Fields; initProvider?: Fields }
  return forProvider?.vmId ?? initProvider?.vmId
}

interface Fields {
  readonly vmId?: number
}
