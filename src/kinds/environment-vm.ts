import { z } from 'zod'
import type { Declaration } from '../model/declaration.ts'
import { cloneNeeds } from './crossplane/clone-needs.ts'
import { crossplaneGroup, envelope, isNamespaced } from './crossplane/envelope.ts'
import { checkEnvelope, crossplanePolicy, externalName } from './crossplane/policy.ts'
import { servedBy } from './crossplane/provider.ts'
import { aliasWarnings, withoutAliases } from './crossplane/vm-aliases.ts'
import { checkVm } from './crossplane/vm-check.ts'
import { vmFields } from './crossplane/vm-schema.ts'
import { type VmFields, vmSpec } from './crossplane/vm-spec.ts'
import { unkeptWarnings } from './crossplane/vm-unkept.ts'
import type { Kind, RawManifest } from './kind.ts'
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
    const problems = [...checkEnvelope(spec, manifest)]
    for (const part of ['forProvider', 'initProvider'] as const) {
      const written = (manifest.spec as Readonly<Record<string, unknown>>)[part]
      problems.push(...aliasWarnings(written, ['spec', part]), ...unkeptWarnings(spec[part] ?? {}, ['spec', part]))
    }
    if (spec.initProvider !== undefined) {
      problems.push({
        code: 'not-kept',
        path: ['spec', 'initProvider'],
        severity: 'warning',
        message: 'croft keeps what initProvider says after creation too, as if it stood in forProvider',
      })
    }
    problems.push(...checkVm(allFields(spec), manifest))
    return problems
  },

  policy(spec, manifest) {
    const policy = crossplanePolicy(spec, manifest, adoptedId(manifest))
    // Whoever declares it protected in Proxmox does not want it deleted by us.
    return { ...policy, protect: policy.protect || allFields(spec).protection === true }
  },

  expand(declaration, lookup) {
    const provider = servedBy(declaration.spec, declaration, lookup)
    if ('problem' in provider) return { problems: [provider.problem] }
    const vm = vmSpecOf(declaration)
    return {
      role: 'resource',
      ...(provider.connection === undefined ? {} : { connection: provider.connection }),
      desired: { type: 'vm', vm },
      needs: [...filesNeeded(vm, lookup), ...cloneNeeds(vm, declaration, lookup)],
    }
  },
}

/** The VMID in `crossplane.io/external-name`: `108`, or with its host `still-fawn/108`. */
function adoptedId(manifest: RawManifest): string | undefined {
  return externalName(manifest)?.split('/').at(-1)
}

function vmSpecOf(declaration: Declaration<EnvironmentVmSpec>) {
  const fields = allFields(declaration.spec)
  const adopted = declaration.policy.adopt
  const vmId = fields.vmId ?? (adopted === undefined ? undefined : Number(adopted))
  // The check has refused a declaration without a host.
  return vmSpec(
    vmId === undefined ? fields : { ...fields, vmId },
    fields.nodeName ?? '',
    declaration.name,
    adopted !== undefined,
  )
}

function allFields(spec: EnvironmentVmSpec): VmFields {
  return spec.initProvider === undefined ? spec.forProvider : { ...spec.initProvider, ...spec.forProvider }
}
