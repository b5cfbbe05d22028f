/** Every preset: the name of its file in this folder, and a heading of docs/addons.md. */
export const PRESET_NAMES = [
  'argocd',
  'cert-manager',
  'cilium',
  'coredns',
  'flux',
  'garage',
  'kube-vip',
  'local-path',
  'metallb',
  'rook-ceph',
  'traefik',
] as const

export type PresetName = (typeof PRESET_NAMES)[number]
