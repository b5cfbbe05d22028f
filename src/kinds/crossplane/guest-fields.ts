import type { Declaration } from '../../model/declaration.ts'
import type { Policy } from '../../model/policy.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import type { Envelope } from './envelope.ts'
import { checkEnvelope, crossplanePolicy, externalName } from './policy.ts'

/** The VMID in `crossplane.io/external-name`: `108`, or with its host `still-fawn/108`. */
function adoptedId(manifest: RawManifest): string | undefined {
  return externalName(manifest)?.split('/').at(-1)
}

/** What both members say; where they differ, forProvider counts. */
export function allFields<Fields extends object>(spec: {
  readonly forProvider: Fields
  readonly initProvider?: Fields | undefined
}): Fields {
  return spec.initProvider === undefined ? spec.forProvider : { ...spec.initProvider, ...spec.forProvider }
}

/** The fields of a guest, with the id of the one that it takes over where it names none itself. */
export function guestFields<Fields extends { readonly vmId?: number | undefined }>(
  declaration: Declaration<{ readonly forProvider: Fields; readonly initProvider?: Fields | undefined }>,
): Fields {
  const fields = allFields(declaration.spec)
  const adopted = declaration.policy.adopt
  const vmId = fields.vmId ?? (adopted === undefined ? undefined : Number(adopted))
  return vmId === undefined ? fields : { ...fields, vmId }
}

/** What is wrong, or worth knowing, around the fields of a guest. */
export function checkGuestEnvelope(
  spec: Envelope & { readonly initProvider?: object | undefined },
  manifest: RawManifest,
): readonly FieldProblem[] {
  const problems = checkEnvelope(spec, manifest)
  if (spec.initProvider === undefined) return problems
  return [
    ...problems,
    {
      code: 'not-kept',
      path: ['spec', 'initProvider'],
      severity: 'warning',
      message: 'croft keeps what initProvider says after creation too, as if it stood in forProvider',
    },
  ]
}

export function guestPolicy<Fields extends { readonly protection?: boolean | undefined }>(
  spec: Envelope & { readonly forProvider: Fields; readonly initProvider?: Fields | undefined },
  manifest: RawManifest,
): Policy {
  const policy = crossplanePolicy(spec, manifest, adoptedId(manifest))
  // Whoever declares it protected in Proxmox does not want it deleted by us.
  return { ...policy, protect: policy.protect || allFields(spec).protection === true }
}
