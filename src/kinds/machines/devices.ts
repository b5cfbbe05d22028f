import { defined } from '../../lib/defined.ts'
import type { ContainerDevice } from '../../model/container.ts'
import type { Declaration, ResourceKey } from '../../model/declaration.ts'
import { heldMachines } from '../cluster/machines.ts'
import type { GivenDevices } from '../hypervisors/hypervisor.ts'
import { keeperOf } from '../hypervisors/registry.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import type { DeviceSpec } from '../schemas/device.ts'
import type { MachineSpec } from '../schemas/machine.ts'
import { machinesIn } from './all-machines.ts'
import { findHost } from './bindings.ts'

type MachineWithDevices = Declaration<MachineSpec>
type Device = Declaration<DeviceSpec>

/** Returns the devices of a machine, each with its slot. */
export function givenDevices(machine: MachineWithDevices, lookup: Lookup, problems: FieldProblem[]): GivenDevices {
  const names = machine.spec.devices ?? []
  const found = names.flatMap((name, index) => findDevice(name, machine, index, lookup, problems))
  const hosts = [...new Set(found.map(({ spec }) => spec.host))]
  const path = ['spec', 'devices']
  if (hosts.length > 1)
    problems.push({
      code: 'bad-value',
      path,
      message: `${found.map(({ name, spec }) => `${name} is on ${spec.host}`).join(', ')}: a machine is on one host only`,
      hint: 'leave some of them out, or plug them into the same host',
    })
  const [host] = hosts
  if (host !== undefined && machine.spec.host !== 'auto' && machine.spec.host !== host)
    problems.push({
      code: 'bad-value',
      path,
      message: `${found.map(({ name }) => name).join(', ')} is plugged into ${host}, and the machine is on ${machine.spec.host}`,
      hint: `set host to ${host}, or to auto, so that the machine follows its devices`,
    })
  if (machine.spec.lxc !== undefined) return { ...containerDevices(found, path, problems), ...defined({ host }) }
  for (const { name, spec } of found)
    if (spec.pci === undefined && spec.usb === undefined)
      problems.push({
        code: 'bad-value',
        path,
        message: `Device ${name} has only files, which a container can be given and a VM cannot`,
        hint: `say in pci or usb of Device ${name} what it is`,
      })
  const bad = (message: string, hint: string) => problems.push({ code: 'bad-value', path, message, hint })
  const at = host === undefined ? undefined : findHost(host, machine.namespace, lookup)
  return { ...keeperOf(at, lookup).hypervisor.devices(found, machine, bad), ...defined({ host }) }
}

/** A container shares the kernel of its host: it is given files of devices, never the devices themselves. */
function containerDevices(found: readonly Device[], path: readonly string[], problems: FieldProblem[]): GivenDevices {
  for (const { name, spec } of found)
    if (spec.files === undefined)
      problems.push({
        code: 'bad-value',
        path,
        message: `a container is given files of the host, and Device ${name} names none`,
        hint: `write files of Device ${name}, like /dev/dri/renderD128, /dev/apex_0 or /dev/serial/by-id/…; or make it a VM`,
      })
  const files = found
    .flatMap(({ spec }) => spec.files ?? [])
    .map(({ readOnly, ...file }, index) =>
      defined<ContainerDevice>({ slot: `dev${index}`, ...file, denyWrite: readOnly }),
    )
  return { pci: [], usb: [], files, needs: [] }
}

function findDevice(
  name: string,
  machine: MachineWithDevices,
  index: number,
  lookup: Lookup,
  problems: FieldProblem[],
): readonly Device[] {
  const path = ['spec', 'devices', index]
  const device = (lookup.declaration('Device', name, machine.namespace) ?? lookup.declaration('Device', name)) as
    | Device
    | undefined
  if (device === undefined) {
    const known = lookup.all('Device').map((one) => one.name)
    problems.push({
      code: 'unknown-reference',
      path,
      message: `there is no Device ${name}`,
      ...(known.length === 0 ? { hint: `declare Device ${name}` } : { hint: `declared devices: ${known.join(', ')}` }),
    })
    return []
  }
  const all = usersOf(lookup).get(device.key) ?? []
  const users = all.some(({ key, held }) => key === machine.key && !held) ? all.filter(({ held }) => !held) : all
  // The host's driver keeps the device, and serves as many containers as open its files.
  const shared = users.every(({ inContainer }) => inContainer)
  const others = shared ? [] : users.map(({ key }) => key).filter((key) => key !== machine.key)
  if (others.length > 0)
    problems.push({
      code: 'claimed-twice',
      path,
      message: `Device ${name} is also given to ${others.join(', ')}`,
      hint: 'a device can be in one machine only: take it out of the others',
    })
  return [device]
}

interface DeviceUser {
  readonly key: ResourceKey
  readonly inContainer: boolean
  /** Its source has a grant, so it takes no device from a source without one. */
  readonly held: boolean
}

const usersIn = new WeakMap<Lookup, ReadonlyMap<ResourceKey, readonly DeviceUser[]>>()

/** Returns the machines that each device is assigned to. */
function usersOf(lookup: Lookup): ReadonlyMap<ResourceKey, readonly DeviceUser[]> {
  const known = usersIn.get(lookup)
  if (known !== undefined) return known
  const found = new Map<ResourceKey, DeviceUser[]>()
  for (const machine of machinesIn(lookup)) {
    for (const name of new Set(machine.spec.devices ?? [])) {
      const device = lookup.declaration('Device', name, machine.namespace) ?? lookup.declaration('Device', name)
      const user = { key: machine.key, inContainer: machine.spec.lxc !== undefined, held: heldMachines.has(machine) }
      if (device !== undefined) found.set(device.key, [...(found.get(device.key) ?? []), user])
    }
  }
  usersIn.set(lookup, found)
  return found
}
