import { z } from 'zod'
import { defined } from '../lib/defined.ts'
import type { SettingSpec, SettingValue } from '../model/rest.ts'
import { annotatedPolicy } from './fields/annotations.ts'
import { croftKind } from './fields/croft-kind.ts'
import { whole } from './fields/number.ts'
import { line, matching, objectName } from './fields/text.ts'
import { keeperOf } from './hypervisors/registry.ts'
import type { FieldProblem } from './kind.ts'
import { connectionOf, findHost, nodeOf, unknownHost } from './machines/bindings.ts'

const on = z.boolean().optional()
const hardwareId = matching(/^[0-9a-f]{4}:[0-9a-f]{4}$/, 'vendor and device, like 10de:2484')

const schema = z.strictObject({
  description: line.optional(),
  /** The Host that it is plugged into. */
  host: objectName,
  /** A card: a GPU, a network card, a Coral with an M.2 plug. */
  pci: z
    .strictObject({
      /** Vendor and device, as `lspci -nn` shows them. */
      id: hardwareId,
      /** Where it sits; without the last digit all its functions go along. */
      address: matching(/^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?$/, 'an address like 0000:01:00.0'),
      subsystemId: hardwareId.optional(),
      iommuGroup: whole(0, 65_535).optional(),
      /** Shown to the guest as PCI Express; needs machine q35. True where the machine is one. */
      pcie: on,
      /** The guest's first graphics card. */
      primaryGpu: on,
      /** Does it offer mediated devices? */
      mdev: on,
    })
    .optional(),
  /** Something at a USB port. */
  usb: z
    .strictObject({
      /** All that it is ever called: a Coral has another id once its firmware is loaded. */
      ids: z.array(hardwareId).min(1).max(4),
      /** The port it is in. With it the guest keeps the device when its id changes. */
      port: matching(/^[0-9]{1,3}-[0-9]{1,2}(?:\.[0-9]{1,2}){0,6}$/, 'a port like 1-2 or 2-1.4').optional(),
      usb3: on,
    })
    .optional(),
  deletionPolicy: z.enum(['Delete', 'Orphan']).default('Delete'),
})

export type DeviceSpec = z.output<typeof schema>

/** A thing in or at a host that is given to a machine. Its own name is that of the resource mapping. */
export const device = croftKind<DeviceSpec>({
  kind: 'Device',
  plural: 'devices',
  shortNames: ['dev'],
  summary:
    'A GPU, a USB stick or another piece of hardware, where it is plugged in, and under which name machines get it.',
  schema,

  check(spec) {
    const problems: FieldProblem[] = []
    if ((spec.pci === undefined) === (spec.usb === undefined))
      problems.push({
        code: spec.pci === undefined ? 'missing-field' : 'bad-value',
        path: ['spec', spec.pci === undefined ? 'pci' : 'usb'],
        message: 'a device is either pci or usb',
        hint: 'say what it is in one of the two',
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
    if (!keeperOf(host, lookup).hypervisor.namesDevices) return { role: 'fact' }
    return {
      role: 'resource',
      ...connection,
      desired: { type: 'setting', setting: mappingOf(declaration.name, spec, nodeOf(host)) },
      needs: [],
    }
  },
})

/** The resource mapping that stands for it: with one a token may pass the device on, without one only root may. */
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
    // Whichever it is called just now is right.
    ...(others.length === 0 ? {} : { accepts: { devices: others } }),
  }
}
