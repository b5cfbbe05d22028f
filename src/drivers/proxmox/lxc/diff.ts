import type { ContainerSpec } from '../../../model/container.ts'
import type { Change, ObservedResource, Resource } from '../../../model/resource.ts'
import { type ApiFields, flagOf } from '../foreign.ts'
import { diffGuest } from '../guest-diff.ts'
import { compareAll, wantedOf } from '../option.ts'
import { OPTIONS } from './options.ts'
import { movingContainer } from './volumes.ts'

export function diffContainer(
  resource: Resource,
  container: ContainerSpec,
  observed: ObservedResource,
): readonly Change[] {
  return diffGuest(resource, container, observed, {
    options: OPTIONS,
    moving: movingContainer(container),
    possible: (change, config, running) => possible(container, change, config, running, resource.rootLane),
  })
}

/** Declared values that cannot be set at creation. */
export function neverPossible(resource: Resource, container: ContainerSpec): readonly Change[] {
  const wanted = wantedOf(resource, container, '0')
  return compareAll(OPTIONS, wanted, {})
    .map((change) => possible(container, change, {}, false, resource.rootLane))
    .filter((change) => change.blocked !== undefined)
}

type ContainerObjection = NonNullable<Change['blocked']>

const LANE = 'it needs the SSH lane, which is not configured'

/** Returns the change, with the reason if the API cannot make it. */
export function possible(
  container: ContainerSpec,
  change: Change,
  config: ApiFields,
  running: boolean,
  rootLane = false,
): Change {
  if (change.blocked !== undefined) return change
  const privileged = config.rootfs === undefined ? container.unprivileged === false : !flagOf(config.unprivileged)
  const blocked =
    (rootLane ? undefined : rootOnly(container, change, privileged)) ??
    whileRunning(change, running) ??
    snapshots(change, config)
  return blocked === undefined ? change : { ...change, blocked }
}

function rootOnly(container: ContainerSpec, { path }: Change, privileged: boolean): ContainerObjection | undefined {
  const [sort, part] = path.split('.')
  if (path === 'hookScript') {
    return {
      message: `hookScript can be set by root@pam only, never by a token: ${LANE}`,
      allow: 'take it out of the declaration, and set it on the host with: pct set VMID --hookscript VOLUME',
    }
  }
  if (sort === 'features' && part !== 'nesting') {
    return {
      message: `${path} can be set by root@pam only, never by a token: ${LANE}`,
      allow: 'take it out of the declaration, and set it on the host with: pct set VMID --features LIST',
    }
  }
  if (path === 'features.nesting' && privileged) {
    return {
      message: `features.nesting of a privileged container can be set by root@pam only: ${LANE}`,
      allow: 'declare unprivileged: true, which a new container can have',
    }
  }
  if (sort === 'devices') {
    const device = container.devices?.find((one) => one.slot === part)?.path
    return {
      message: `${path} is a device of the host${device === undefined ? '' : `, ${device}`}, which root@pam alone may give to a container: ${LANE}`,
      allow: 'take it out of the declaration, and set it on the host with: pct set VMID --devN PATH',
    }
  }
  const source = sort === 'mounts' ? container.mounts.find((mount) => mount.slot === part)?.source : undefined
  if (source?.startsWith('/')) {
    return {
      message: `${path} is a path of the host, ${source}, which root@pam alone may mount into a container: ${LANE}`,
      allow: 'declare a volume on a storage instead, or set it on the host with: pct set VMID --mpN SOURCE,mp=PATH',
    }
  }
  return undefined
}

function whileRunning({ path }: Change, running: boolean): ContainerObjection | undefined {
  if (!running || !/^(?:rootDisk|mounts\.mp\d+)\.storage$/.test(path)) return undefined
  const message = `${path}: a volume of a container cannot be moved while it runs`
  return { message, allow: 'stop it for the move (started: false, or power: off)' }
}

function snapshots({ path }: Change, config: ApiFields): ContainerObjection | undefined {
  if (config.parent === undefined || !/^(?:rootDisk|mounts\.mp\d+)\.storage$/.test(path)) return undefined
  return { message: `${path}: a volume that snapshots stand on cannot be moved`, allow: 'delete the snapshots first' }
}
