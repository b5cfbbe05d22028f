import { macAddress } from '../../world/chance.ts'
import { configDigest, touch } from '../../world/guest-config.ts'
import { noteSeen } from '../../world/guest-run.ts'
import { parseProperties } from '../../world/properties.ts'
import type { Guest } from '../../world/types.ts'
import { failed, forbidden } from '../api-error.ts'
import type { Call } from '../call.ts'
import { refuseLocked } from './config-lock.ts'

const NOT_CONFIG = new Set([
  'node',
  'vmid',
  'ostemplate',
  'rootfs',
  'storage',
  'password',
  'ssh-public-keys',
  'start',
  'pool',
  'force',
  'restore',
  'unique',
  'bwlimit',
  'ignore-unpack-errors',
  'delete',
  'revert',
  'digest',
  'ha-managed',
])

/** Feature flags beyond nesting reach into the host, so only root itself may set them. */
export function checkFeatures(
  call: Call,
  features: string | undefined,
  unprivileged: boolean,
  creating: boolean,
): void {
  if (features === undefined || call.who.id === 'root@pam') return
  if (!unprivileged && creating)
    throw forbidden('changing feature flags for privileged container is only allowed for root@pam')
  const others = [...parseProperties(features).named.keys()].filter((name) => name !== 'nesting')
  if (others.length > 0) throw forbidden('changing feature flags (except nesting) is only allowed for root@pam')
}

export function buildContainer(call: Call, rootfs: string): Map<string, string> {
  const config = new Map([
    ['arch', 'amd64'],
    ['ostype', 'debian'],
    ['memory', '512'],
    ['swap', '512'],
    ['rootfs', rootfs],
  ])
  for (const [key, value] of Object.entries(call.params))
    if (!NOT_CONFIG.has(key)) config.set(key, kept(call, key, value))
  if (config.get('unprivileged') === '0') config.delete('unprivileged')
  return config
}

export function changeContainer(call: Call, guest: Guest): void {
  if (call.params.digest !== undefined && call.params.digest !== configDigest(guest)) {
    throw failed('detected modified configuration - file changed by other user? Try again.')
  }
  refuseLocked(guest)
  for (const key of (call.params.delete ?? '').split(/[,;\s]+/)) guest.config.delete(key)
  for (const [key, value] of Object.entries(call.params))
    if (!NOT_CONFIG.has(key)) guest.config.set(key, kept(call, key, value))
  touch(guest)
  noteSeen(call.world, guest)
}

function kept(call: Call, key: string, value: string): string {
  if (!/^net\d+$/.test(key)) return value
  const { named } = parseProperties(value)
  if (!named.has('hwaddr')) named.set('hwaddr', macAddress(call.world.random))
  named.set('type', 'veth')
  const name = named.get('name')
  named.delete('name')
  return [
    `name=${name}`,
    ...[...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([one, text]) => `${one}=${text}`),
  ].join(',')
}
