import { createHash } from 'node:crypto'

/**
 * Encodes an upload's form with a file in place of its name. The other fields come first, since the daemon stops
 * reading them at the file.
 */
export function multipart(
  { filename: _, ...fields }: Readonly<Record<string, string>>,
  file: { readonly name: string; readonly bytes: Uint8Array },
): { readonly contentType: string; readonly body: Uint8Array } {
  const { head, tail, contentType } = multipartFrame(
    fields,
    file.name,
    createHash('sha256').update(file.bytes).digest('hex').slice(0, 32),
  )
  return { contentType, body: new Uint8Array(Buffer.concat([head, file.bytes, tail])) }
}

/**
 * Returns what precedes and follows the file. `print` is derived from the content, so that the boundary cannot occur in
 * it and is the same in each attempt.
 */
export function multipartFrame(
  fields: Readonly<Record<string, string>>,
  name: string,
  print: string,
): { readonly contentType: string; readonly head: Uint8Array; readonly tail: Uint8Array } {
  const boundary = `croft-${print}`
  const parts = Object.entries(fields).map(
    ([key, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`,
  )
  parts.push(
    `--${boundary}\r\ncontent-disposition: form-data; name="filename"; filename="${name}"\r\n`,
    'content-type: application/octet-stream\r\n\r\n',
  )
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(parts.join('')),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  }
}
