import { isFields } from '../../manifest.ts'
import { ADDON, NO_CLUSTER } from '../addon-draft.ts'
import { application } from '../formats/argocd.ts'
import type { Fields } from '../reading.ts'
import { wordOf } from './attributes.ts'
import type { ResourceReader } from './resource.ts'

/** Applications of the Argo CD provider: what they deploy becomes an add-on, as with Argo CD's own objects. */
export const argocd: ResourceReader = {
  provider: /(?:^|\/)(?:argoproj-labs|oboukili)\/argocd["\]]*$/,
  read({ type, name, attributes, options }) {
    if (type === 'argocd_project') return { why: 'croft has no projects; grants of a source bound what it may declare' }
    if (/^argocd_(?:repository|cluster|account)/.test(type))
      return { why: 'its credentials are for Argo CD; write them into secrets of an Addon' }
    if (type !== 'argocd_application') return { why: 'croft has no kind for it' }
    if (options.cluster === undefined) return { why: NO_CLUSTER }
    const own = wordOf(first(attributes.metadata).name)
    if (own === undefined) return { why: 'the state does not say its name' }
    const from = application(own, specOf(first(attributes.spec)))
    if (!('addons' in from)) return { why: 'why' in from ? from.why : 'it produced no add-on' }
    const [only] = from.addons
    if (only === undefined) return { why: 'it has no source' }
    const manifest = only.manifest(name('Addon', [only.name]), options.cluster)
    return 'why' in manifest ? manifest : { kind: ADDON, manifest, without: from.without ?? [] }
  },
}

/** A state has every block as a list, and the words of Terraform; Argo CD has maps and its own. */
function specOf(spec: Fields): Fields {
  const sources = blocks(spec.source).map((source) => {
    const helm = first(source.helm)
    return present({
      repoURL: source.repo_url,
      targetRevision: source.target_revision,
      chart: source.chart,
      path: source.path,
      kustomize: blocks(source.kustomize)[0],
      directory: blocks(source.directory).find((one) => Object.values(one).some(says)),
      plugin: blocks(source.plugin)[0],
      helm:
        blocks(source.helm).length === 0
          ? undefined
          : present({
              releaseName: helm.release_name,
              values: helm.values,
              valueFiles: Array.isArray(helm.value_files) && helm.value_files.length > 0 ? helm.value_files : undefined,
              fileParameters: blocks(helm.file_parameter).length > 0 ? helm.file_parameter : undefined,
              parameters: blocks(helm.parameter).map((one) => ({
                name: one.name,
                value: one.value,
                forceString: one.force_string,
              })),
            }),
    })
  })
  const destination = first(spec.destination)
  return {
    destination: present({ server: destination.server, name: destination.name, namespace: destination.namespace }),
    ...(sources.length > 1 ? { sources } : { source: sources[0] }),
  }
}

function blocks(value: unknown): readonly Fields[] {
  return (Array.isArray(value) ? value : []).filter(isFields)
}

function first(value: unknown): Fields {
  return blocks(value)[0] ?? {}
}

function says(value: unknown): boolean {
  return (
    value !== null &&
    value !== undefined &&
    value !== '' &&
    value !== false &&
    !(Array.isArray(value) && value.length === 0)
  )
}

function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => says(value)))
}
