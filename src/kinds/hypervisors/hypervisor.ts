import type { ContainerDevice } from '../../model/container.ts'
import type { Declaration, ResourceKey } from '../../model/declaration.ts'
import type { VmPci, VmSpec, VmUsb } from '../../model/vm.ts'
import type { FieldProblem, Kind, Lookup } from '../kind.ts'
import type { DeviceSpec } from '../schemas/device.ts'
import type { MachineSpec, WrittenMachine } from '../schemas/machine.ts'

/** Parts of a host's hardware for one machine. */
export interface GivenDevices {
  readonly pci: readonly VmPci[]
  readonly usb: readonly VmUsb[]
  /** Files of the host, for a container. */
  readonly files?: readonly ContainerDevice[]
  readonly needs: readonly ResourceKey[]
  /** The Host with all of them; undefined for a machine without devices. */
  readonly host?: string
}

/** Converts machines, devices and images for one hypervisor. Pure. */
export interface Hypervisor {
  /** The kinds that only it has, its connection first. */
  readonly kinds: readonly Kind[]
  /** Reports whether it keeps a Device under a name. Otherwise machines look up where the Device is. */
  readonly namesDevices: boolean
  /** Architecture of machines without a declared one; undefined if their host decides. */
  readonly processor?: string
  check(spec: WrittenMachine): readonly FieldProblem[]
  /** The existing machine to take over, by the hypervisor's own id. */
  adopted(spec: WrittenMachine): string | undefined
  /** Returns the machine as desired on this hypervisor. */
  machine(machine: Declaration<MachineSpec>, vm: VmSpec, connection: Declaration | undefined): VmSpec
  devices(
    found: readonly Declaration<DeviceSpec>[],
    machine: Declaration<MachineSpec>,
    bad: (message: string, hint: string) => void,
  ): Omit<GivenDevices, 'host'>
  /** Declared storages and networks of its host that must be there before the machine. */
  placesOf(vm: VmSpec, lookup: Lookup): readonly ResourceKey[]
  /** The declared storage that a file is kept in. */
  placeOf(host: string, storage: string, lookup: Lookup): readonly ResourceKey[]
}
