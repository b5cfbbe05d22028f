import { createHash } from 'node:crypto'

/**
 * A form with a file, as Proxmox takes an upload: the file stands where a plain form would have its name. The other
 * fields come first, because the daemon stops reading them at the file.
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
 * What stands before the file and after it. `print` comes from the content itself, so that it can neither occur in it
 * nor differ from one attempt to the next.
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
