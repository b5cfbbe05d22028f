import { argocd } from './formats/argocd.ts'
import { clusterApi } from './formats/cluster-api.ts'
import { crossplane } from './formats/crossplane.ts'
import { flux } from './formats/flux.ts'
import { hetznerK3s } from './formats/hetzner-k3s.ts'
import { k3sAnsible } from './formats/k3s-ansible.ts'
import { k3sup } from './formats/k3sup.ts'
import { kubemox } from './formats/kubemox.ts'
import { terraform } from './formats/terraform.ts'
import type { ForeignFile, ForeignFormat, FormatFacts, ReadOptions } from './reading.ts'

/** All foreign formats that `croft import` reads: one file in formats/, one page in docs/import/. */
const READERS: readonly ForeignFormat[] = [
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

export const FORMATS: readonly FormatFacts[] = READERS

/** Evaluates untrusted expressions, so only the cage does this. */
export function readForeign(
  name: string,
  files: readonly ForeignFile[],
  options: ReadOptions,
): ReturnType<ForeignFormat['read']> {
  const format = READERS.find((one) => one.name === name)
  return format?.read(files, options) ?? { problem: `${name} is no format that can be read` }
}
