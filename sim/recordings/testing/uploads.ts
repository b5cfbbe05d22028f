import { createHash } from 'node:crypto'

interface Upload {
  readonly content?: string
  readonly name: string
  readonly bytes: string
  readonly fields?: Readonly<Record<string, string>>
}

const KIB_4 = 'x'.repeat(4096)
const sha256 = createHash('sha256').update(KIB_4).digest('hex')

/** The recorder left the bytes of uploads out. These have the names and sizes that the later lists show. */
const UPLOADS: Readonly<Record<string, Upload>> = {
  'upload-iso': { content: 'iso', name: 't.iso', bytes: 'x'.repeat(5000) },
  'upload-snippets': { content: 'snippets', name: 't.yaml', bytes: 'x: 1' },
  'upload-badext': { content: 'iso', name: 't.exe', bytes: 'x'.repeat(50) },
  'up-iso': {
    content: 'iso',
    name: 't.iso',
    bytes: KIB_4,
    fields: { checksum: sha256, 'checksum-algorithm': 'sha256' },
  },
  'up-iso-again': { content: 'iso', name: 't.iso', bytes: KIB_4 },
  'up-badsum': {
    content: 'iso',
    name: 'bad.iso',
    bytes: KIB_4,
    fields: { checksum: '0'.repeat(64), 'checksum-algorithm': 'sha256' },
  },
  'up-sum-noalg': { content: 'iso', name: 'bad.iso', bytes: KIB_4, fields: { checksum: sha256 } },
  'up-badext': { content: 'iso', name: 't.exe', bytes: KIB_4 },
  'up-space': { content: 'iso', name: 'my file.iso', bytes: KIB_4 },
  'up-dot': { content: 'iso', name: '../x.iso', bytes: KIB_4 },
  'up-vztmpl-badext': { content: 'vztmpl', name: 't.iso', bytes: KIB_4 },
  'up-nocontent': { name: 't.iso', bytes: KIB_4 },
  'up-content-unsupported': { content: 'vztmpl', name: 't.tar.gz', bytes: KIB_4 },
  'up-nostorage': { content: 'iso', name: 't.iso', bytes: KIB_4 },
}

export function uploadBody(label: string): Uint8Array | undefined {
  const upload = UPLOADS[label]
  if (upload === undefined) return undefined
  const { content, name, bytes, fields = {} } = upload
  const part = (head: string, body: string) => `------x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
  const texts = Object.entries({ ...(content === undefined ? {} : { content }), ...fields })
  return Buffer.from(
    `${texts.map(([key, value]) => part(`name="${key}"`, value)).join('')}${part(`name="filename"; filename="${name}"`, bytes)}------x--\r\n`,
  )
}
