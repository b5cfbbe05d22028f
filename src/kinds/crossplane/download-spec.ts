import { z } from 'zod'
import { defined } from '../../lib/defined.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { FileSpec } from '../../model/file.ts'
import { fileNameOf } from '../fields/file-name.ts'
import { whole } from '../fields/number.ts'
import { fileName, hostName, matching, storageName, webUrl } from '../fields/text.ts'
import { envelope } from './envelope.ts'

const on = z.boolean().optional()

/** Every field of the provider's EnvironmentDownloadFile. */
const downloadFields = {
  checksum: matching(/^[0-9a-fA-F]{32,128}$/, 'a checksum in hexadecimal digits').optional(),
  checksumAlgorithm: z.enum(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']).optional(),
  contentType: z.enum(['iso', 'vztmpl', 'import']).optional(),
  datastoreId: storageName.optional(),
  decompressionAlgorithm: z.enum(['gz', 'lzo', 'zst', 'bz2']).optional(),
  fileName: fileName.optional(),
  nodeName: hostName.optional(),
  overwrite: on,
  overwriteUnmanaged: on,
  uploadTimeout: whole(1, 86_400).optional(),
  url: webUrl.optional(),
  verify: on,
}

export const downloadSchema = z.strictObject({
  ...envelope,
  forProvider: z.strictObject(downloadFields),
  initProvider: z.strictObject(downloadFields).optional(),
})

export type DownloadSpec = z.output<typeof downloadSchema>

/** Fields that the provider requires; the kind's check refuses a declaration without them. */
export const DOWNLOAD_REQUIRED = ['nodeName', 'datastoreId', 'contentType', 'url'] as const

export function downloadFieldsOf(spec: DownloadSpec): DownloadSpec['forProvider'] {
  return spec.initProvider === undefined ? spec.forProvider : { ...spec.initProvider, ...spec.forProvider }
}

/** Returns the file that an EnvironmentDownloadFile declares. Undefined if it is incomplete. */
export function downloadedFile(declaration: Declaration): FileSpec | undefined {
  const fields = downloadFieldsOf(declaration.spec as DownloadSpec)
  const name = fields.fileName ?? fileNameOf(fields.url ?? '')
  if (fields.nodeName === undefined || fields.datastoreId === undefined || fields.contentType === undefined)
    return undefined
  if (fields.url === undefined || name === undefined) return undefined
  return defined<FileSpec>({
    host: fields.nodeName,
    storage: fields.datastoreId,
    content: fields.contentType,
    fileName: name,
    url: fields.url,
    checksum:
      fields.checksum === undefined
        ? undefined
        : { algorithm: fields.checksumAlgorithm ?? 'sha256', value: fields.checksum.toLowerCase() },
    decompression: fields.decompressionAlgorithm,
    verifyTls: fields.verify,
    // The provider replaces a changed file by default. croft does so only on request, because other machines may be
    // made from the file.
    overwrite: fields.overwrite === true,
  })
}
