import { crossplaneGroup, isNamespaced } from './crossplane/envelope.ts'
import { type EnvironmentFileSpec, schema } from './crossplane/file-schema.ts'
import { environmentFileOf, fileFieldsOf } from './crossplane/file-spec.ts'
import { checkEnvelope, crossplanePolicy, externalName } from './crossplane/policy.ts'
import { served } from './crossplane/provider.ts'
import type { FieldProblem, Kind } from './kind.ts'

/** A file on a storage: a snippet, whose text goes over SSH, or one that Proxmox fetches by itself. */
export const environmentFile: Kind<EnvironmentFileSpec> = {
  kind: 'EnvironmentFile',
  apiVersion: 'virtualenvironmentfile.crossplane.io/v1alpha1',
  accepts: crossplaneGroup('virtualenvironmentfile'),
  namespaced: isNamespaced,
  plural: 'environmentfiles',
  shortNames: [],
  summary: "A snippet or another file on a storage, in the form of Crossplane's provider-proxmox-bpg.",
  schema,

  check(spec, manifest) {
    const given = fileFieldsOf(spec)
    const missing = (field: string) => ({
      code: 'missing-field',
      path: ['spec', 'forProvider', field],
      message: `${field} is missing`,
    })
    const required = (['datastoreId', 'nodeName'] as const).filter((field) => given[field] === undefined)
    const unnamed = given.sourceRaw?.data !== undefined && given.sourceRaw.fileName === undefined
    const url = /^https?:\/\//.test(given.sourceFile?.path ?? '')
    const kept = isSnippet(given) ? given.sourceRaw?.data !== undefined : url && given.contentType !== 'backup'
    return [
      ...checkEnvelope(spec, manifest),
      ...required.map(missing),
      ...(unnamed ? [missing('sourceRaw.fileName')] : []),
      ...(kept ? [] : [leftAlone(given)]),
    ]
  },

  policy: (spec, manifest) => crossplanePolicy(spec, manifest, externalName(manifest)),

  expand(declaration, lookup) {
    const file = environmentFileOf(declaration)
    if (file === undefined) return { role: 'fact' }
    return served(declaration, lookup, () => ({ desired: { type: 'file', file }, needs: [] }))
  },
}

function isSnippet({ contentType = 'snippets' }: EnvironmentFileSpec['forProvider']): boolean {
  return contentType === 'snippets'
}

function leftAlone(given: EnvironmentFileSpec['forProvider']): FieldProblem {
  const snippet = isSnippet(given)
  return {
    code: 'kind-not-kept',
    path: ['spec', 'forProvider', ...(given.contentType === undefined ? [] : ['contentType'])],
    severity: 'warning',
    message: snippet
      ? 'croft leaves this file alone: it manages a snippet only if its text is in sourceRaw.data'
      : `croft leaves this file alone: it uploads nothing of type ${given.contentType ?? ''} from a file of its own computer`,
    hint: snippet
      ? 'write the text into sourceRaw: {fileName, data}'
      : 'name an address in sourceFile.path, or declare an EnvironmentDownloadFile',
  }
}
