import { z } from 'zod'
import { block } from '../fields/block.ts'
import { whole } from '../fields/number.ts'
import { fileName, hostName, matching, storageName } from '../fields/text.ts'
import { pages, scopeWord } from '../settings/field-schema.ts'
import { envelope } from './envelope.ts'

const on = z.boolean().optional()
/** The text of a file; it goes over SSH by standard input. */
const data = pages(65_536)
const place = pages(1000)

const fields = {
  contentType: z.enum(['backup', 'import', 'iso', 'snippets', 'vztmpl']).optional(),
  datastoreId: storageName.optional(),
  fileMode: matching(/^[0-7]{3,4}$/, 'a mode like 0644').optional(),
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

export const schema = z.strictObject({
  ...envelope,
  forProvider: z.strictObject(fields),
  initProvider: z.strictObject(fields).optional(),
})

export type EnvironmentFileSpec = z.output<typeof schema>
