import { defined } from '../lib/defined.ts'
import type { SettingSpec, SettingValue } from '../model/rest.ts'
import { annotatedPolicy } from './fields/annotations.ts'
import { croftKind } from './fields/croft-kind.ts'
import { keeperOf } from './hypervisors/registry.ts'
import type { FieldProblem } from './kind.ts'
import { connectionOf, findHost, nodeOf, unknownHost } from './machines/bindings.ts'
import { type DeviceSpec, deviceSchema } from './schemas/device.ts'

/** A device in or at a host that is passed to a machine. The resource mapping has its name. */
export const device = croftKind<DeviceSpec>({
  kind: 'Device',
  plural: 'devices',
  shortNames: ['dev'],
  summary:
    'A GPU, a USB stick or another piece of hardware, where it is plugged in, and under which name machines get it.',
  schema: deviceSchema,

  check(spec) {
    const problems: FieldProblem[] = []
    const sorts = [spec.pci, spec.usb].filter((one) => one !== undefined).length
    if (sorts > 1 || (sorts === 0 && spec.files === undefined))
      problems.push({
        code: spec.pci === undefined ? 'missing-field' : 'bad-value',
        path: ['spec', spec.pci === undefined ? 'pci' : 'usb'],
        message: 'a device is either pci or usb, or has files alone',
        hint: 'say what it is in one of the two; files are enough for containers',
      })
    if (spec.usb !== undefined && spec.usb.ids.length > 1 && spec.usb.port === undefined)
      problems.push({
        code: 'missing-field',
        path: ['spec', 'usb', 'port'],
        message: 'a device that changes its id is found by its port, and port is missing',
        hint: 'see where it is plugged in: lsusb -t on the host',
      })
    return problems
  },

  policy: (spec, manifest) => ({ ...annotatedPolicy(manifest), deletion: spec.deletionPolicy }),

  expand(declaration, lookup) {
    const { spec } = declaration
    const host = findHost(spec.host, declaration.namespace, lookup)
    if (host === undefined) return { problems: [unknownHost(spec.host, ['spec', 'host'], lookup)] }
    const connection = connectionOf(host, ['spec', 'host'], lookup)
    if ('problem' in connection) return { problems: [connection.problem] }
    // A container gets device files, so it needs no mapping.
    if (spec.pci === undefined && spec.usb === undefined) return { role: 'fact' }
    if (!keeperOf(host, lookup).hypervisor.namesDevices) return { role: 'fact' }
    return {
      role: 'resource',
      ...connection,
      desired: { type: 'setting', setting: mappingOf(declaration.name, spec, nodeOf(host)) },
      needs: [],
    }
  },
})

/** Returns the resource mapping of a device: with one, a token may pass the device on; without, only root may. */
function mappingOf(id: string, spec: DeviceSpec, node: string): SettingSpec {
  const description = spec.description ?? ''
  if (spec.pci !== undefined) {
    const { pci } = spec
    const entry: Record<string, SettingValue | undefined> = {
      host: node,
      path: pci.address,
      id: pci.id,
      subsystemId: pci.subsystemId,
      iommuGroup: pci.iommuGroup,
    }
    return {
      definition: 'pci-mapping',
      id,
      fields: { devices: [defined(entry)], description, ...(pci.mdev === undefined ? {} : { mdev: pci.mdev }) },
    }
  }
  const { ids = [], port } = spec.usb ?? {}
  const [first, ...others] = ids.map((one) => [defined({ host: node, id: one, path: port })])
  return {
    definition: 'usb-mapping',
    id,
    fields: { devices: first ?? [], description },
    // Either name is right.
    ...(others.length === 0 ? {} : { accepts: { devices: others } }),
  }
}
