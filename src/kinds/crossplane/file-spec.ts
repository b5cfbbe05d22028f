import { createHash } from 'node:crypto'
import { defined } from '../../lib/defined.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { FileSpec } from '../../model/file.ts'
import { Sealed } from '../../model/secret.ts'
import { fileNameOf } from '../fields/file-name.ts'
import type { EnvironmentFileSpec } from './file-schema.ts'

type FileFields = EnvironmentFileSpec['forProvider']

export function fileFieldsOf(spec: EnvironmentFileSpec): FileFields {
  return { ...spec.initProvider, ...spec.forProvider }
}

/**
 * Returns the file of an EnvironmentFile: a text in the declaration, sent over SSH, or one that Proxmox can fetch by
 * itself. Undefined for those that croft leaves alone: files of the computer that the provider ran on, and backups.
 */
export function environmentFileOf(declaration: Declaration): FileSpec | undefined {
  const fields = fileFieldsOf(declaration.spec as EnvironmentFileSpec)
  const { nodeName: host, datastoreId: storage, sourceRaw, sourceFile, contentType = 'snippets' } = fields
  if (host === undefined || storage === undefined || contentType === 'backup') return undefined
  const place = { host, storage, overwrite: fields.overwrite !== false }
  if (contentType === 'snippets') {
    if (sourceRaw?.data === undefined || sourceRaw.fileName === undefined) return undefined
    const { data, fileName } = sourceRaw
    const snippet = {
      text: new Sealed(data),
      bytes: Buffer.byteLength(data),
      sha256: createHash('sha256').update(data).digest('hex'),
      mode: Number.parseInt(fields.fileMode ?? '0644', 8),
    }
    return { ...place, content: 'snippets', fileName, url: '', snippet }
  }
  const url = sourceFile?.path
  const fileName = sourceFile?.fileName ?? fileNameOf(url ?? '')
  if (url === undefined || !/^https?:\/\//.test(url) || fileName === undefined) return undefined
  return defined<FileSpec>({
    ...place,
    content: contentType,
    fileName,
    url,
    checksum:
      sourceFile?.checksum === undefined
        ? undefined
        : { algorithm: 'sha256', value: sourceFile.checksum.toLowerCase() },
    verifyTls: sourceFile?.insecure === true ? false : undefined,
    // Machines may be made from the file: replace it only on request.
    overwrite: fields.overwrite === true,
  })
}
