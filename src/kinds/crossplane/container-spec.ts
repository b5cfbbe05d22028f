import type { z } from 'zod'
import { defined } from '../../lib/defined.ts'
import type {
  ContainerDevice,
  ContainerFeatures,
  ContainerMount,
  ContainerNic,
  ContainerRootDisk,
  ContainerSpec,
} from '../../model/container.ts'
import type { containerFields } from './container-schema.ts'
import { guestBasics } from './guest-fields.ts'

export type ContainerFields = z.output<z.ZodObject<typeof containerFields>>
type Mount = NonNullable<ContainerFields['mountPoint']>[number]
type ContainerInterface = NonNullable<ContainerFields['networkInterface']>[number]

/** The provider's own defaults, for what a container cannot be made without. */
const DATASTORE = 'local'
const BRIDGE = 'vmbr0'
const ROOT_GB = 4

/**
 * Converts the provider's fields to a container. Undeclared fields are left out, so that they are not compared:
 * defaults apply only where Proxmox needs a value for creation, and never to an adopted container.
 */
export function containerSpec(fields: ContainerFields, host: string, name: string, adopted: boolean): ContainerSpec {
  const { initialization, operatingSystem } = fields
  const password = initialization?.userAccount?.passwordSecretRef
  return defined<ContainerSpec>({
    ...guestBasics(fields),
    host,
    name: initialization?.hostname ?? name,
    restart: undefined,
    onBoot: fields.startOnBoot,
    image: operatingSystem?.templateFileId,
    unprivileged: fields.unprivileged,
    cpu: fields.cpu && defined(fields.cpu),
    memory: fields.memory && defined({ dedicatedMb: fields.memory.dedicated, swapMb: fields.memory.swap }),
    rootDisk: rootDisk(fields, adopted),
    mounts: (fields.mountPoint ?? []).map(mount),
    nics: (fields.networkInterface ?? []).flatMap((nic, index) =>
      nic.enabled === false ? [] : [containerNic(nic, index, fields)],
    ),
    dns: dns(fields),
    features: fields.features && defined<ContainerFeatures>(fields.features),
    devices: fields.devicePassthrough?.map((device, index) =>
      defined<ContainerDevice>({ slot: `dev${index}`, ...device }),
    ),
    console: consoleOf(fields),
    entrypoint: initialization?.entrypoint,
    environment: fields.environmentVariables,
    hookScript: fields.hookScriptFileId,
    sshKeys: initialization?.userAccount?.keys,
    password: password && {
      secretRef: defined({ name: password.name, namespace: password.namespace, key: password.key }),
    },
  })
}

function consoleOf({ console: fields }: ContainerFields): ContainerSpec['console'] {
  return fields && defined({ enabled: fields.enabled, ttys: fields.ttyCount, mode: fields.type })
}

function rootDisk({ disk }: ContainerFields, adopted: boolean): ContainerRootDisk | undefined {
  if (disk === undefined) return adopted ? undefined : { storage: DATASTORE, sizeGb: ROOT_GB }
  const { datastoreId, size, ...rest } = disk
  return defined<ContainerRootDisk>({
    storage: datastoreId ?? DATASTORE,
    sizeGb: size ?? (adopted ? undefined : ROOT_GB),
    ...rest,
  })
}

/** `volume` is a storage for a new volume, a volume that exists, or a path of the host. */
function mount({ volume, size, ...rest }: Mount, index: number): ContainerMount {
  const isSource = volume.startsWith('/') || volume.includes(':')
  return defined<ContainerMount>({
    slot: `mp${index}`,
    storage: isSource ? undefined : volume,
    source: isSource ? volume : undefined,
    sizeGb: size === undefined ? undefined : Number(size.slice(0, -1)),
    ...rest,
  })
}

function containerNic(fields: ContainerInterface, index: number, { initialization }: ContainerFields): ContainerNic {
  const { enabled: _enabled, macAddress, vlanId, rateLimit, ...nic } = fields
  const address = initialization?.ipConfig?.[index]
  return defined<ContainerNic>({
    ...nic,
    slot: `net${index}`,
    bridge: nic.bridge ?? BRIDGE,
    mac: macAddress?.toUpperCase(),
    vlan: vlanId === 0 ? undefined : vlanId,
    mtu: nic.mtu === 0 ? undefined : nic.mtu,
    rateMBps: rateLimit,
    v4: address?.ipv4?.address,
    gateway4: address?.ipv4?.gateway,
    v6: address?.ipv6?.address,
    gateway6: address?.ipv6?.gateway,
  })
}

function dns({ initialization }: ContainerFields): ContainerSpec['dns'] {
  const fields = initialization?.dns
  if (fields === undefined) return undefined
  const servers = fields.servers ?? (fields.server === undefined ? undefined : [fields.server])
  return defined({ servers, domain: fields.domain })
}
