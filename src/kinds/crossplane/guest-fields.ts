import { defined } from '../../lib/defined.ts'
import type { Declaration, Policy } from '../../model/declaration.ts'
import type { GuestBasics } from '../../model/vm.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import type { Envelope } from './envelope.ts'
import { checkEnvelope, crossplanePolicy, externalName } from './policy.ts'

/** The VMID in `crossplane.io/external-name`: `108`, or with its host `still-fawn/108`. */
function adoptedId(manifest: RawManifest): string | undefined {
  return externalName(manifest)?.split('/').at(-1)
}

/** Merges both members; forProvider wins. */
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

/** Checks the fields around those of a guest. */
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
  // Proxmox's own protection also forbids deletion by croft.
  return { ...policy, protect: policy.protect || allFields(spec).protection === true }
}

/** Fields with equal names in VMs and containers. */
interface BasicFields {
  readonly vmId?: number | undefined
  readonly started?: boolean | undefined
  readonly template?: boolean | undefined
  readonly startup?:
    | {
        readonly order?: number | undefined
        readonly upDelay?: number | undefined
        readonly downDelay?: number | undefined
      }
    | undefined
  readonly protection?: boolean | undefined
  readonly poolId?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly description?: string | undefined
  readonly operatingSystem?: { readonly type?: string | undefined } | undefined
}

/** Returns a guest's basics. Templates have no power state; other guests run by default. Tags are in lowercase. */
export function guestBasics(fields: BasicFields): Omit<GuestBasics, 'host' | 'name'> {
  return defined<Omit<GuestBasics, 'host' | 'name'>>({
    vmid: fields.vmId,
    power: fields.template === true ? undefined : (fields.started ?? true) ? 'running' : 'stopped',
    template: fields.template,
    startup:
      fields.startup &&
      defined({
        order: fields.startup.order,
        upSeconds: fields.startup.upDelay,
        downSeconds: fields.startup.downDelay,
      }),
    protection: fields.protection,
    pool: fields.poolId,
    tags: fields.tags && [...new Set(fields.tags.map((tag) => tag.toLowerCase()))],
    description: fields.description,
    osType: fields.operatingSystem?.type,
  })
}
