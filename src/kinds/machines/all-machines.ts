import type { Declaration } from '../../model/declaration.ts'
import { clusterMachines, heldMachines } from '../cluster/machines.ts'
import type { Lookup } from '../kind.ts'
import type { MachineSpec, WrittenMachine } from '../schemas/machine.ts'
import { withClass } from './with-class.ts'

const known = new WeakMap<Lookup, readonly Declaration<MachineSpec>[]>()

/** Returns all machines of a revision, declared ones and those of clusters: they share addresses and images. */
export function machinesIn(lookup: Lookup): readonly Declaration<MachineSpec>[] {
  const found = known.get(lookup)
  if (found !== undefined) return found
  const declared = (lookup.all('Machine') as readonly Declaration<WrittenMachine>[]).flatMap((machine) => {
    const whole = withClass(machine.spec, machine.namespace, lookup)
    if ('problems' in whole) return []
    const found = { ...machine, spec: whole.spec }
    if (lookup.isBounded?.(machine) === true) heldMachines.add(found)
    return [found]
  })
  const every = [...declared, ...clusterMachines(lookup)]
  // A source with a grant takes nothing from one without, so its machines come last.
  const all = [...every.filter((one) => !heldMachines.has(one)), ...every.filter((one) => heldMachines.has(one))]
  known.set(lookup, all)
  return all
}
