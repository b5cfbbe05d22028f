import type { Declaration } from '../../model/declaration.ts'
import { clusterMachines } from '../cluster/machines.ts'
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
    return 'problems' in whole ? [] : [{ ...machine, spec: whole.spec }]
  })
  const all = [...declared, ...clusterMachines(lookup)]
  known.set(lookup, all)
  return all
}
