import { argocd } from './formats/argocd.ts'
import { clusterApi } from './formats/cluster-api.ts'
import { crossplane } from './formats/crossplane.ts'
import { flux } from './formats/flux.ts'
import { hetznerK3s } from './formats/hetzner-k3s.ts'
import { k3sAnsible } from './formats/k3s-ansible.ts'
import { k3sup } from './formats/k3sup.ts'
import { kubemox } from './formats/kubemox.ts'
import { terraform } from './formats/terraform.ts'
import type { ForeignFormat } from './reading.ts'

/** All foreign formats that `croft import` reads: one file in formats/, one page in docs/import/. */
export const FORMATS: readonly ForeignFormat[] = [
  argocd,
  clusterApi,
  crossplane,
  flux,
  hetznerK3s,
  k3sAnsible,
  k3sup,
  kubemox,
  terraform,
]
