import { argocd } from './argocd.ts'
import { certManager } from './cert-manager.ts'
import { cilium } from './cilium.ts'
import { coredns } from './coredns.ts'
import { flux } from './flux.ts'
import { garage } from './garage.ts'
import { kubeVip } from './kube-vip.ts'
import { localPath } from './local-path.ts'
import { metallb } from './metallb.ts'
import type { Preset } from './preset.ts'
import { rookCeph } from './rook-ceph.ts'
import { traefik } from './traefik.ts'

/** Every preset by its name, which is its file's. A new one is its file, this line and a row of docs/addons.md. */
export const PRESETS = {
  argocd,
  'cert-manager': certManager,
  cilium,
  coredns,
  flux,
  garage,
  'kube-vip': kubeVip,
  'local-path': localPath,
  metallb,
  'rook-ceph': rookCeph,
  traefik,
} satisfies Readonly<Record<string, Preset>>

export type PresetName = keyof typeof PRESETS

export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[]
