import type { Declaration } from '../../model/declaration.ts'
import type { RawManifest } from '../kind.ts'
import { externalName } from './policy.ts'

/** The VMID in `crossplane.io/external-name`: `108`, or with its host `still-fawn/108`. */
export function adoptedId(manifest: RawManifest): string | undefined {
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
