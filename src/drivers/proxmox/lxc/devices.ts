import type { ContainerDevice, ContainerFeatures, ContainerNic, ContainerSpec } from '../../../model/container.ts'
import { device, devices } from '../parts.ts'

/** What is allowed inside. All but nesting reach into the host, so only root itself may set them. */
export const features = device<ContainerSpec, ContainerFeatures>({
  path: 'features',
  key: 'features',
  bare: '',
  effect: 'restart',
  whenMissing: 'its parts',
  omitsDefaults: true,
  declared: ({ features: declared }) =>
    declared !== undefined && Object.keys(declared).length > 0 ? declared : undefined,
  parts: [
    { field: 'nesting', key: 'nesting', fallback: false },
    { field: 'keyctl', key: 'keyctl', fallback: false },
    { field: 'fuse', key: 'fuse', fallback: false },
    { field: 'mknod', key: 'mknod', fallback: false },
    { field: 'mount', key: 'mount' },
  ],
})

/** Network cards with their addresses. All of it is set while the container runs. */
export const nics = devices<ContainerSpec, ContainerNic>({
  path: 'nics',
  bare: '',
  effect: 'live',
  items: (container) => container.nics,
  parts: [
    { field: 'name', key: 'name' },
    { field: 'bridge', key: 'bridge' },
    { field: 'mac', key: 'hwaddr', read: (text) => text.toUpperCase() },
    { field: 'vlan', key: 'tag', noneAtZero: true },
    { field: 'firewall', key: 'firewall', fallback: false },
    { field: 'disconnected', key: 'link_down', fallback: false },
    { field: 'mtu', key: 'mtu', noneAtZero: true },
    { field: 'rateMBps', key: 'rate', noneAtZero: true },
    { field: 'hostManaged', key: 'host-managed', fallback: false },
    { field: 'v4', key: 'ip' },
    { field: 'gateway4', key: 'gw' },
    { field: 'v6', key: 'ip6' },
    { field: 'gateway6', key: 'gw6' },
  ],
})

/** Devices of the host. Only root may give them. */
export const passedDevices = devices<ContainerSpec, ContainerDevice>({
  path: 'devices',
  bare: 'path',
  effect: 'restart',
  items: (container) => container.devices,
  parts: [
    { field: 'path', key: 'path' },
    { field: 'mode', key: 'mode' },
    { field: 'uid', key: 'uid', fallback: 0 },
    { field: 'gid', key: 'gid', fallback: 0 },
    { field: 'denyWrite', key: 'deny-write', fallback: false },
  ],
})
