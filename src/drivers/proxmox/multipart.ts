import { createHash } from 'node:crypto'

/**
 * A form with a file, as Proxmox takes an upload: the file stands where a plain form would have its name. The other
 * fields come first, because the daemon stops reading them at the file.
 */
export function multipart(
  { filename: _, ...fields }: Readonly<Record<string, string>>,
  file: { readonly name: string; readonly bytes: Uint8Array },
): { readonly contentType: string; readonly body: Uint8Array } {
  // From the content itself, so that it can neither occur in it nor differ from one attempt to the next.
  const boundary = `croft-${createHash('sha256').update(file.bytes).digest('hex').slice(0, 32)}`
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  parts.push(
    `--${boundary}\r\ncontent-disposition: form-data; name="filename"; filename="${file.name}"\r\n`,
    'content-type: application/octet-stream\r\n\r\n',
  )
  const head = Buffer.from(parts.join(''))
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: new Uint8Array(Buffer.concat([head, file.bytes, tail])),
  }
}
