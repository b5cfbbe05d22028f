import { KINDS } from '../../../kinds/registry.ts'
import { isFields } from '../../manifest.ts'
import { wordOf } from './attributes.ts'
import { networkOf, poolOf } from './libvirt-places.ts'
import type { ResourceReader } from './resource.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const MIB: Readonly<Record<string, number>> = {
  b: 1 / 1_048_576,
  bytes: 1 / 1_048_576,
  kib: 1 / 1024,
  k: 1 / 1024,
  mib: 1,
  m: 1,
  gib: 1024,
  g: 1024,
}

const WITHOUT_KIND: Readonly<Record<string, string>> = {
  libvirt_volume: 'a volume that a domain uses stays with it; declare an Image for what new machines are made from',
  libvirt_cloudinit_disk: 'the seed of a domain that exists is not made again',
  libvirt_ignition: 'the seed of a domain that exists is not made again',
}

const PLACES: Readonly<Record<string, typeof networkOf>> = { libvirt_network: networkOf, libvirt_pool: poolOf }

/** Domains, networks and pools of dmacvicar's provider: 0.8, where memory is MiB, and 0.9, which follows libvirt's XML. */
export const libvirt: ResourceReader = {
  provider: /(?:^|\/)dmacvicar\/libvirt["\]]*$/,
  read(instance) {
    const { type, name, attributes, options } = instance
    const place = PLACES[type]
    if (type !== 'libvirt_domain' && place === undefined)
      return { why: Object.hasOwn(WITHOUT_KIND, type) ? (WITHOUT_KIND[type] ?? '') : 'croft has no kind for it' }
    if (options.host === undefined) return { why: 'nothing says which Host it is on; name it with --host' }
    if (place !== undefined) return place(instance, options.host)
    const kind = KINDS.find((one) => one.kind === 'Machine')
    const uuid = [attributes.uuid, attributes.id].find((one) => typeof one === 'string' && UUID.test(one))
    if (kind === undefined || uuid === undefined) return { why: 'the state does not hold its UUID' }
    const newer = typeof attributes.uuid === 'string'
    const mebibytes = memoryOf(attributes.memory, newer ? (wordOf(attributes.memory_unit) ?? 'KiB') : 'MiB')
    if (mebibytes === undefined) return { why: 'its memory is not a whole number of MiB' }
    const cores = Number(wordOf(attributes.vcpu) ?? 1)
    // Provider 0.9 starts a domain only if `running` is set, and then its state has the attribute.
    const running = typeof attributes.running === 'boolean' ? attributes.running : !newer
    return {
      kind,
      manifest: {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: { name: name(kind.kind) },
        spec: {
          host: options.host,
          cpu: { cores },
          memory: `${mebibytes}Mi`,
          ...(running ? {} : { power: 'off' }),
          ...(typeof attributes.autostart === 'boolean' ? { onBoot: attributes.autostart } : {}),
          // Provider 0.8 adds the agent's channel to each domain; in 0.9 the author declares it.
          ...(newer && !hasAgentChannel(attributes.devices) ? { agent: false } : {}),
          libvirt: { uuid, adopt: true },
          deletionPolicy: 'Orphan',
        },
      },
      without:
        typeof attributes.running === 'boolean' || !newer
          ? []
          : ['the state does not say whether it runs; power: off is written, which is how the provider leaves it'],
      comments: ['disks and cards are not declared and stay as they are; croft import libvirt declares them'],
    }
  },
}

function hasAgentChannel(devices: unknown): boolean {
  return isFields(devices) && JSON.stringify(devices.channels ?? []).includes('"org.qemu.guest_agent.0"')
}

function memoryOf(value: unknown, unit: string): number | undefined {
  const factor = MIB[unit.toLowerCase()]
  const mebibytes = Number(wordOf(value) ?? Number.NaN) * (factor ?? Number.NaN)
  return Number.isInteger(mebibytes) && mebibytes > 0 ? mebibytes : undefined
}
