import { defined } from '../../lib/defined.ts'
import type { GuestBasics } from '../../model/guest.ts'

/** What the provider calls alike in a VM and in a container. */
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

/** A template has no power; anything else runs unless it is said that it does not. Proxmox keeps tags in small letters. */
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
