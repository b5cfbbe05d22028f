import { z } from 'zod'
import type { Declaration, ResourceKey } from '../model/declaration.ts'
import type { VmSpec } from '../model/vm.ts'
import { crossplaneGroup, envelope, isNamespaced } from './crossplane/envelope.ts'
import { allFields, checkGuestEnvelope, guestFields, guestPolicy } from './crossplane/guest-fields.ts'
import { served } from './crossplane/provider.ts'
import { aliasWarnings, withoutAliases } from './crossplane/vm-aliases.ts'
import { checkVm } from './crossplane/vm-check.ts'
import { vmFields } from './crossplane/vm-schema.ts'
import { vmSpec } from './crossplane/vm-spec.ts'
import { unkeptWarnings } from './crossplane/vm-unkept.ts'
import type { Kind, Lookup } from './kind.ts'
import { filesNeeded } from './machines/files-needed.ts'

const schema = z.strictObject({
  ...envelope,
  forProvider: z.preprocess(withoutAliases, z.strictObject(vmFields)),
  initProvider: z.preprocess(withoutAliases, z.strictObject(vmFields)).optional(),
})

export type EnvironmentVmSpec = z.output<typeof schema>

/** A virtual machine, as Crossplane's provider-proxmox-bpg declares it. */
export const environmentVm: Kind<EnvironmentVmSpec> = {
  kind: 'EnvironmentVM',
  apiVersion: 'virtualenvironmentvm.crossplane.io/v1alpha1',
  accepts: crossplaneGroup('virtualenvironmentvm'),
  namespaced: isNamespaced,
  plural: 'environmentvms',
  shortNames: ['vm', 'vms'],
  summary: "A virtual machine on Proxmox, in the form of Crossplane's provider-proxmox-bpg.",
  schema,
  aliases: { networkDevice: 'network', disk: 'disks', datastoreId: 'storage' },

  check(spec, manifest) {
    const problems = [...checkGuestEnvelope(spec, manifest)]
    for (const part of ['forProvider', 'initProvider'] as const) {
      const written = (manifest.spec as Readonly<Record<string, unknown>>)[part]
      problems.push(...aliasWarnings(written, ['spec', part]), ...unkeptWarnings(spec[part] ?? {}, ['spec', part]))
    }
    problems.push(...checkVm(allFields(spec), manifest))
    return problems
  },

  policy: guestPolicy,

  expand: (declaration, lookup) =>
    served(declaration, lookup, () => {
      const vm = vmSpecOf(declaration)
      const needs = [...filesNeeded(vm, lookup), ...cloneNeeds(vm, declaration, lookup)]
      return { desired: { type: 'vm', vm }, needs }
    }),
}

function vmSpecOf(declaration: Declaration<EnvironmentVmSpec>) {
  const fields = guestFields(declaration)
  // The check has refused a declaration without a host.
  return vmSpec(fields, fields.nodeName ?? '', declaration.name, declaration.policy.adopt !== undefined)
}

/** The declared VM that another one is cloned from must be created first. An undeclared one must exist. */
function cloneNeeds(vm: VmSpec, { key }: Declaration, lookup: Lookup): readonly ResourceKey[] {
  const source = vm.clone?.vmid
  if (source === undefined) return []
  const declared = lookup
    .all('EnvironmentVM')
    .filter((one) => vmidOf(one.spec) === source)
    .map((one) => one.key)
  return declared.filter((one) => one !== key)
}

function vmidOf(spec: unknown): number | undefined {
  const { forProvider, initProvider } = spec as { forProvider?: VmIdFields; initProvider?: VmIdFields }
  return forProvider?.vmId ?? initProvider?.vmId
}

interface VmIdFields {
  readonly vmId?: number
}
