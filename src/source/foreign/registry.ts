import { argocd } from './formats/argocd.ts'
import { crossplane } from './formats/crossplane.ts'
import { flux } from './formats/flux.ts'
import { k3sAnsible } from './formats/k3s-ansible.ts'
import { terraform } from './formats/terraform.ts'
import type { ForeignFormat } from './reading.ts'

/** Every format of somebody else's files that `croft import` reads: one file in formats/, one page in docs/import/. */
export const FORMATS: readonly ForeignFormat[] = [argocd, crossplane, flux, k3sAnsible, terraform]
