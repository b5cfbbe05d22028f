import { volumeId } from '../model/file.ts'
import {
  DOWNLOAD_REQUIRED,
  type DownloadSpec,
  downloadedFile,
  downloadFieldsOf,
  downloadSchema,
} from './crossplane/download-spec.ts'
import { crossplaneGroup, isNamespaced } from './crossplane/envelope.ts'
import { checkEnvelope, crossplanePolicy, externalName } from './crossplane/policy.ts'
import { served } from './crossplane/provider.ts'
import { EXTERNAL_NAME } from './fields/annotations.ts'
import { endingHint, fileNameOf, wrongEnding } from './fields/file-name.ts'
import { badValue, missingField } from './fields/problem.ts'
import type { FieldProblem, Kind } from './kind.ts'

/** A file on a storage, as Crossplane's provider-proxmox-bpg declares it. */
export const environmentDownloadFile: Kind<DownloadSpec> = {
  kind: 'EnvironmentDownloadFile',
  apiVersion: 'virtualenvironmentdownloadfile.crossplane.io/v1alpha1',
  accepts: crossplaneGroup('virtualenvironmentdownloadfile'),
  namespaced: isNamespaced,
  plural: 'environmentdownloadfiles',
  shortNames: ['downloadfile', 'downloadfiles'],
  summary: "A file that Proxmox downloads to a storage, in the form of Crossplane's provider-proxmox-bpg.",
  schema: downloadSchema,

  check(spec, manifest) {
    const fields = downloadFieldsOf(spec)
    const at = (field: string) => ['spec', 'forProvider', field]
    const problems: FieldProblem[] = [...checkEnvelope(spec, manifest)]
    for (const field of DOWNLOAD_REQUIRED) {
      if (fields[field] === undefined) {
        problems.push(missingField(at(field), `${field} is missing`))
      }
    }
    const name = fields.fileName ?? fileNameOf(fields.url ?? '')
    if (fields.url !== undefined && name === undefined) {
      problems.push(missingField(at('fileName'), 'fileName is missing, and the url does not end in one'))
    }
    if (name !== undefined && fields.contentType !== undefined) {
      const wrong = wrongEnding(name, fields.contentType)
      if (wrong !== undefined) {
        problems.push(
          badValue(at(fields.fileName === undefined ? 'url' : 'fileName'), wrong, endingHint(fields.fileName)),
        )
      }
    }
    if (fields.checksumAlgorithm !== undefined && fields.checksum === undefined) {
      problems.push(missingField(at('checksum'), 'checksumAlgorithm is set but checksum is missing'))
    }
    for (const field of ['overwriteUnmanaged', 'uploadTimeout'] as const) {
      if (fields[field] === undefined || fields[field] === false) continue
      problems.push({
        code: 'not-kept',
        path: at(field),
        severity: 'warning',
        message: `croft reads ${field} but does not use it: a file that is there with the right checksum is taken as it is`,
      })
    }
    if (spec.initProvider !== undefined) {
      problems.push({
        code: 'not-kept',
        path: ['spec', 'initProvider'],
        severity: 'warning',
        message: 'croft keeps what initProvider says after creation too, as if it stood in forProvider',
      })
    }
    const external = externalName(manifest)
    if (
      external !== undefined &&
      name !== undefined &&
      fields.datastoreId !== undefined &&
      fields.contentType !== undefined
    ) {
      const volume = volumeId({ storage: fields.datastoreId, content: fields.contentType, fileName: name })
      if (external !== volume) {
        problems.push(
          badValue(
            ['metadata', 'annotations', EXTERNAL_NAME],
            `${EXTERNAL_NAME} names another file than ${volume}, which the fields describe`,
          ),
        )
      }
    }
    return problems
  },

  policy: (spec, manifest) => crossplanePolicy(spec, manifest, externalName(manifest)),

  expand(declaration, lookup) {
    const file = downloadedFile(declaration)
    if (file === undefined) return { problems: [missingField(['spec', 'forProvider'], 'not complete')] }
    return served(declaration, lookup, () => ({ desired: { type: 'file', file }, needs: [] }))
  },
}
