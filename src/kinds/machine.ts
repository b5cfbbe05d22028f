import { annotatedPolicy, checkAnnotations, EXTERNAL_NAME } from './fields/annotations.ts'
import { show } from './fields/explain.ts'
import { mebibytes } from './fields/number.ts'
import { badValue, missingField } from './fields/problem.ts'
import { dnsName } from './fields/text.ts'
import { ALL_HYPERVISORS } from './hypervisors/registry.ts'
import type { FieldProblem, Kind, RawManifest } from './kind.ts'
import { checkContainerMachine } from './machines/container-machine.ts'
import { expandMachine } from './machines/machine-spec.ts'
import { machineSchema, type WrittenMachine } from './schemas/machine.ts'

/** A machine for a user. */
export const machine: Kind<WrittenMachine> = {
  kind: 'Machine',
  apiVersion: 'croft.dev/v1alpha1',
  accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
  plural: 'machines',
  shortNames: ['m'],
  summary: 'A computer on a host, with logical networks and storages that the host binds.',
  schema: machineSchema,
  check: checkMachine,

  policy(spec, manifest) {
    const policy = annotatedPolicy(manifest)
    const adopt = adopted(spec, manifest)
    return {
      ...policy,
      protect: policy.protect || spec.protect === true || spec.proxmox?.protection === true,
      ...(spec.protect === false ? { dataMayGo: true as const } : {}),
      deletion: spec.deletionPolicy ?? (adopt === undefined ? 'Delete' : 'Orphan'),
      ...(adopt === undefined ? {} : { adopt }),
    }
  },

  expand: expandMachine,
}

function adopted(spec: WrittenMachine, manifest: RawManifest): string | undefined {
  const [id] = ALL_HYPERVISORS.flatMap((hypervisor) => hypervisor.adopted(spec) ?? [])
  return id ?? manifest.metadata.annotations[EXTERNAL_NAME]
}

function checkMachine(spec: WrittenMachine, manifest: RawManifest): readonly FieldProblem[] {
  const problems: FieldProblem[] = [
    ...checkAnnotations(manifest),
    ...checkContainerMachine(spec, manifest),
    ...ALL_HYPERVISORS.flatMap((hypervisor) => hypervisor.check(spec)),
  ]
  const bad = (path: readonly (string | number)[], message: string, hint?: string) =>
    problems.push(badValue(['spec', ...path], message, hint))

  const missing = (field: string, message: string) =>
    problems.push(missingField(['spec', field], message, 'say it here, or name a class that does'))

  if (!dnsName.safeParse(manifest.metadata.name).success)
    problems.push(badValue(['metadata', 'name'], 'metadata.name cannot be the name of a machine'))
  if (spec.class === undefined) {
    for (const field of ['cpu', 'memory'] as const) if (spec[field] === undefined) missing(field, `${field} is missing`)
    if (spec.cpu !== undefined && spec.cpu.cores === undefined) missing('cpu', 'cpu.cores is missing')
  }
  if (spec.memory !== undefined && (mebibytes(spec.memory) ?? 0) < 16)
    bad(['memory'], `memory is ${spec.memory}; a machine needs 16Mi or more`)
  for (const [index, entry] of spec.disks.entries()) {
    if ((mebibytes(entry.size) ?? 0) % 1024 !== 0) {
      bad(['disks', index, 'size'], `size is ${entry.size}; disks grow in whole Gi`, 'write it in Gi')
    }
  }
  const vmidField = spec.proxmox?.vmid
  const external = manifest.metadata.annotations[EXTERNAL_NAME]
  if (
    external !== undefined &&
    (!/^(?:[1-9][0-9]{2,8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(external) ||
      (vmidField !== undefined && String(vmidField) !== external))
  ) {
    problems.push(
      badValue(
        ['metadata', 'annotations', EXTERNAL_NAME],
        `${EXTERNAL_NAME} is ${show(external)}; expected a VMID like "108", the same as proxmox.vmid, or the UUID of a domain`,
      ),
    )
  }
  return problems
}
