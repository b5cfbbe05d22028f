import { z } from 'zod'
import type { Declaration } from '../model/declaration.ts'
import { checkContainer } from './crossplane/container-check.ts'
import { containerFields } from './crossplane/container-schema.ts'
import { containerSpec } from './crossplane/container-spec.ts'
import { crossplaneGroup, envelope, isNamespaced } from './crossplane/envelope.ts'
import { allFields, checkGuestEnvelope, guestFields, guestPolicy } from './crossplane/guest-fields.ts'
import { served } from './crossplane/provider.ts'
import type { Kind } from './kind.ts'
import { volumesNeeded } from './machines/files-needed.ts'

const schema = z.strictObject({
  ...envelope,
  forProvider: z.strictObject(containerFields),
  initProvider: z.strictObject(containerFields).optional(),
})

type EnvironmentContainerSpec = z.output<typeof schema>

/** A container, as Crossplane's provider-proxmox-bpg declares it. */
export const environmentContainer: Kind<EnvironmentContainerSpec> = {
  kind: 'EnvironmentContainer',
  apiVersion: 'virtualenvironmentcontainer.crossplane.io/v1alpha1',
  accepts: crossplaneGroup('virtualenvironmentcontainer'),
  namespaced: isNamespaced,
  plural: 'environmentcontainers',
  shortNames: ['ct', 'cts', 'container', 'containers'],
  summary: "A container (LXC) on Proxmox, in the form of Crossplane's provider-proxmox-bpg.",
  schema,

  check(spec, manifest) {
    return [...checkGuestEnvelope(spec, manifest), ...checkContainer(allFields(spec), manifest)]
  },

  policy: guestPolicy,

  expand: (declaration, lookup) =>
    served(declaration, lookup, () => {
      const container = containerOf(declaration)
      const needs = volumesNeeded(container.host, [container.image], lookup)
      return { desired: { type: 'container', container }, needs }
    }),
}

function containerOf(declaration: Declaration<EnvironmentContainerSpec>) {
  const fields = guestFields(declaration)
  // The check has refused a declaration without a host.
  return containerSpec(fields, fields.nodeName ?? '', declaration.name, declaration.policy.adopt !== undefined)
}
