import { isFields } from '../../manifest.ts'
import type { Draft } from '../draft.ts'
import { fitToKind } from '../fit.ts'
import {
  createNames,
  type ForeignFile,
  type ForeignFormat,
  type ForeignReading,
  type NotCarried,
  type ReadOptions,
} from '../reading.ts'
import { argocd } from '../terraform/argocd.ts'
import { wordOf } from '../terraform/attributes.ts'
import { bpg } from '../terraform/bpg.ts'
import { helm } from '../terraform/helm.ts'
import { kubernetes } from '../terraform/kubernetes.ts'
import { libvirt } from '../terraform/libvirt.ts'
import type { ResourceReader } from '../terraform/resource.ts'
import { type StateResources, shownState } from '../terraform/shown-state.ts'
import { telmate } from '../terraform/telmate.ts'

const READERS: readonly ResourceReader[] = [argocd, bpg, helm, kubernetes, libvirt, telmate]

export const terraform: ForeignFormat = {
  name: 'terraform',
  about: 'a Terraform or OpenTofu state (version 4): terraform state pull, or terraform show -json',
  names: /\.(?:tf|tofu|tfstate)$/,
  read(files, options) {
    const states = files.flatMap(({ text }) => stateIn(text) ?? [])
    if (states.length > 0) {
      const { drafts, notCarried } = readStates(
        states.flatMap(({ resources }) => resources),
        options,
      )
      return { drafts, notCarried: [...notCarried, ...states.flatMap(({ absent }) => absent)] }
    }
    const configuration = files.filter(({ path }) => /\.(?:tf|tofu)(?:\.json)?$/.test(path))
    return { problem: configuration.length > 0 ? onlyConfiguration(configuration) : NO_STATE }
  },
}

const NO_STATE =
  'no state of Terraform or OpenTofu (version 4, as JSON) is in it. Where you run terraform apply, run terraform state pull > state.json (or tofu state pull), and import that file.'

/** Explains that a configuration does not show its machines: names and numbers are often expressions. */
function onlyConfiguration(files: readonly ForeignFile[]): string {
  const all = files.flatMap(({ text }) => [...text.matchAll(/^resource\s+"(\w+)"/gm)].map(([, type = '']) => type))
  const known = all.filter((type) => OF_KNOWN_PROVIDERS.test(type)).length
  const count = files.length === 1 ? 'one file' : `${files.length} files`
  const read = all.length === 0 ? '' : `; ${known} of its ${all.length} resources are of providers that croft reads`
  return `it holds configuration (${count}) and no state${read}. The state says which machines these became. In the directory that you apply, with its backend, run terraform init and terraform state pull > state.json (tofu the same), and import that file; the output of terraform show -json is read too. Where the state is lost, croft import proxmox reads the machines themselves.`
}

const OF_KNOWN_PROVIDERS = /^(?:proxmox_|libvirt_|helm_release$|kubernetes_manifest$|kubectl_manifest$|argocd_)/

function stateIn(text: string): StateResources | undefined {
  try {
    const state: unknown = JSON.parse(text)
    if (!isFields(state)) return undefined
    if (state.version !== 4 || !Array.isArray(state.resources)) return shownState(state)
    return { resources: state.resources.filter(isFields), absent: [] }
  } catch {
    return undefined
  }
}

function readStates(resources: StateResources['resources'], options: ReadOptions): ForeignReading {
  const drafts: Draft[] = []
  const notCarried: NotCarried[] = []
  const freeName = createNames()
  for (const resource of resources) {
    const type = wordOf(resource.type) ?? 'without a type'
    // Read and never made: nothing to take over.
    if (resource.mode !== 'managed') continue
    const source = providerOf(resource.provider)
    const reader = READERS.find(({ provider }) => provider.test(source))
    for (const instance of Array.isArray(resource.instances) ? resource.instances.filter(isFields) : []) {
      const { attributes, index_key: index } = instance
      const what = `${wordOf(resource.module) === undefined ? '' : `${wordOf(resource.module)}.`}${type}.${wordOf(resource.name) ?? ''}${index === undefined || index === null ? '' : `[${JSON.stringify(index)}]`}`
      if (!isFields(attributes)) {
        notCarried.push({ what, why: 'the state has no attributes for it' })
        continue
      }
      if (instance.deposed !== undefined) {
        notCarried.push({ what, why: 'Terraform is about to destroy it: it was replaced' })
        continue
      }
      const read = reader?.read({
        type,
        name: (kind, words) => {
          // A release, and what libvirt has, are known by their own names.
          const own = ['Addon', 'Machine', 'LibvirtNetwork', 'LibvirtPool'].includes(kind)
          return freeName(
            kind,
            words ?? (own ? [attributes.name] : [moduleWord(resource.module), resource.name, index]),
          )
        },
        attributes: { ...attributes },
        sensitive: sensitiveIn(instance.sensitive_attributes),
        options,
      }) ?? { why: `croft reads no resources of ${wordOf(resource.provider) ?? 'an unknown provider'}` }
      if ('why' in read) {
        notCarried.push({ what, why: read.why })
        continue
      }
      const { draft, problems } = fitToKind({ manifest: read.manifest, comments: read.comments ?? [] }, read.kind)
      const [problem] = problems
      if (problem !== undefined) {
        notCarried.push({ what, why: problem.message })
        continue
      }
      for (const why of read.without ?? []) notCarried.push({ what, why })
      for (const line of draft.comments.slice(read.comments?.length ?? 0)) notCarried.push({ what, why: line })
      const kept = (read.secrets ?? []).map((secret) => `${secret} is secret: it stays as it is and is not declared`)
      drafts.push({ ...draft, comments: [...draft.comments, ...kept] })
    }
  }
  return { drafts, notCarried }
}

/** Returns the provider in `module.a.provider["registry.opentofu.org/bpg/proxmox"].root`, without module and alias. */
function providerOf(written: unknown): string {
  const text = wordOf(written)
  // States of the first releases name no provider.
  if (text === undefined) return 'registry.terraform.io/bpg/proxmox'
  return /provider\["([^"]+)"\]/.exec(text)?.[1] ?? text
}

/** `module.lab["a"]` → `lab-a`: two modules may hold a resource of one name. */
function moduleWord(module: unknown): string | undefined {
  return typeof module === 'string' ? module.replace(/(?:^|\.)module\./g, '-').replace(/["\][]+/g, '-') : undefined
}

/** A state lists paths: `[[{type: get_attr, value: password}]]`. */
function sensitiveIn(paths: unknown): readonly string[] {
  if (!Array.isArray(paths)) return []
  return paths.flatMap((path: unknown) => {
    const first: unknown = Array.isArray(path) ? path[0] : undefined
    const name = isFields(first) ? wordOf(first.value) : undefined
    return name === undefined ? [] : [name]
  })
}
