import { z } from 'zod'
import { crossplaneGroup, envelope, isNamespaced } from './crossplane/envelope.ts'
import { checkEnvelope, crossplanePolicy, externalName } from './crossplane/policy.ts'
import { block } from './fields/block.ts'
import { whole } from './fields/number.ts'
import { fileName, hostName, storageName } from './fields/text.ts'
import type { Kind } from './kind.ts'
import { pages, scopeWord } from './settings/field-schema.ts'

const on = z.boolean().optional()
/** The text of a file; it is read and goes nowhere. */
const data = pages(65_536)
const place = pages(1000)

const fields = {
  contentType: z.enum(['backup', 'import', 'iso', 'snippets', 'vztmpl']).optional(),
  datastoreId: storageName.optional(),
  fileMode: z
    .string()
    .regex(/^[0-7]{3,4}$/, { error: 'a mode like 0644' })
    .optional(),
  nodeName: hostName.optional(),
  overwrite: on,
  sourceFile: block(
    z.strictObject({
      changed: on,
      checksum: scopeWord.optional(),
      fileName: fileName.optional(),
      insecure: on,
      minTls: scopeWord.optional(),
      path: place.optional(),
    }),
  ),
  sourceRaw: block(
    z.strictObject({ data: data.optional(), fileName: fileName.optional(), resize: whole(0, 1_000_000).optional() }),
  ),
  timeoutUpload: whole(1, 86_400).optional(),
  uploadMode: z.enum(['api', 'sftp']).optional(),
}

const schema = z.strictObject({
  ...envelope,
  forProvider: z.strictObject(fields),
  initProvider: z.strictObject(fields).optional(),
})

type FileSpec = z.output<typeof schema>

/** A file that the provider uploads. Known, checked, and left alone: no token can put a snippet on a host. */
export const environmentFile: Kind<FileSpec> = {
  kind: 'EnvironmentFile',
  apiVersion: 'virtualenvironmentfile.crossplane.io/v1alpha1',
  accepts: crossplaneGroup('virtualenvironmentfile'),
  namespaced: isNamespaced,
  plural: 'environmentfiles',
  shortNames: [],
  summary: "A file that is uploaded, in the form of Crossplane's provider-proxmox-bpg. Read and left alone.",
  schema,

  check(spec, manifest) {
    const given = { ...spec.initProvider, ...spec.forProvider }
    const required = (['datastoreId', 'nodeName'] as const)
      .filter((field) => given[field] === undefined)
      .map((field) => ({
        code: 'missing-field',
        path: ['spec', 'forProvider', field],
        message: `${field} is missing`,
      }))
    const snippet = (given.contentType ?? 'snippets') === 'snippets'
    return [
      ...checkEnvelope(spec, manifest),
      ...required,
      {
        code: 'kind-not-kept',
        path: ['spec', 'forProvider', ...(given.contentType === undefined ? [] : ['contentType'])],
        severity: 'warning',
        message: snippet
          ? 'croft leaves this file alone: Proxmox takes no snippet from a token, it needs the SSH lane'
          : `croft leaves this file alone: it uploads nothing of type ${given.contentType ?? ''}`,
        hint: snippet
          ? 'put the snippet on the host by hand, or use the fields of cloud-init itself'
          : 'let Proxmox download it: EnvironmentDownloadFile',
      },
    ]
  },

  policy: (spec, manifest) => crossplanePolicy(spec, manifest, externalName(manifest)),
  expand: () => ({ role: 'fact' }),
}
