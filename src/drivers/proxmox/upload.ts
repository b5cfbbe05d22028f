import type { Outcome } from '../../model/step.ts'
import type { FileToUpload } from '../port.ts'
import type { Api } from './api.ts'
import { multipartFrame } from './multipart.ts'
import { storagePath } from './steps.ts'

/**
 * Uploads a file to a storage. Proxmox verifies the checksum of the whole file before it puts it in place; a file of
 * the same name is replaced.
 */
export function uploadFile(api: Api, file: FileToUpload, signal: AbortSignal): Promise<Outcome> {
  const { host, storage, content, fileName, sha256, length } = file
  const fields = { content, 'checksum-algorithm': 'sha256', checksum: sha256 }
  const { head, tail, contentType } = multipartFrame(fields, fileName, sha256.slice(0, 32))
  const body = { length: head.length + length + tail.length, chunks: framed(head, file.chunks, tail) }
  const about = { doing: `upload ${fileName} to ${storage} on ${host}`, host }
  return api.upload(`${storagePath(host, storage)}/upload`, contentType, body, about, signal)
}

async function* framed(head: Uint8Array, chunks: AsyncIterable<Uint8Array>, tail: Uint8Array) {
  yield head
  yield* chunks
  yield tail
}
