import { createHash, createHmac } from 'node:crypto'

/** A bucket of an S3 server, and the keys that open it. Without keys the request goes unsigned. */
export interface S3Bucket {
  /** `s3.example.com`, or an address with its scheme. */
  readonly endpoint: string
  readonly bucket: string
  readonly region?: string
  readonly keys?: { readonly access: string; readonly secret: string }
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/** The server that holds a bucket. */
export function s3Server({ endpoint, region = HOME_REGION }: Pick<S3Bucket, 'endpoint' | 'region'>): string {
  // Amazon's own name answers for one region only.
  const named = endpoint === 's3.amazonaws.com' && region !== HOME_REGION ? `s3.${region}.amazonaws.com` : endpoint
  return new URL(/^https?:\/\//.test(named) ? named : `https://${named}`).origin
}

const HOME_REGION = 'us-east-1'

/** A request of the S3 API, signed with version 4 of AWS's signature. Pure. */
export function s3Request(
  { endpoint, bucket, region = HOME_REGION, keys }: S3Bucket,
  { method, key, query = {} }: { readonly method: 'GET' | 'HEAD'; readonly key?: string; readonly query?: Words },
  nowMs: number,
): S3Request {
  const path = `/${[bucket, ...(key ?? '').split('/')]
    .filter((part) => part !== '')
    .map(encoded)
    .join('/')}`
  const asked = Object.entries(query)
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&')
  const url = new URL(`${s3Server({ endpoint, region })}${path}${asked === '' ? '' : `?${asked}`}`)
  if (keys === undefined) return { method, url, headers: {} }
  const at = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const signed: Words = { host: url.host, 'x-amz-content-sha256': EMPTY, 'x-amz-date': at }
  const names = Object.keys(signed).join(';')
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`)
  const canonical = [method, path, asked, lines.join(''), names, EMPTY].join('\n')
  const scope = `${at.slice(0, 8)}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', at, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const signing = [at.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${keys.secret}`)
  const signature = hmac(signing, text).toString('hex')
  const { host: _, ...headers } = signed
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.access}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { method, url, headers: { ...headers, authorization } }
}

type Words = Readonly<Record<string, string>>

const EMPTY = createHash('sha256').update('').digest('hex')

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** As the signature wants it: everything but letters, digits and -._~ */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

export interface S3Page {
  readonly objects: readonly { readonly key: string; readonly bytes: number; readonly atMs: number }[]
  /** What the next page is asked for with. */
  readonly next?: string
}

/** Reads an answer of ListObjectsV2. Undefined: it is none. Pure. */
export function readS3Page(xml: string): S3Page | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml)) return undefined
  const objects = [...xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)].flatMap(([, one = '']) => {
    const [key, bytes, atMs] = [
      inside(one, 'Key'),
      Number(inside(one, 'Size')),
      Date.parse(inside(one, 'LastModified')),
    ]
    return key === '' || !Number.isFinite(bytes) || !Number.isFinite(atMs) ? [] : [{ key, bytes, atMs }]
  })
  const next = inside(xml, 'NextContinuationToken')
  return next === '' ? { objects } : { objects, next }
}

/** What a server says of its refusal: `AccessDenied: …`. */
export function readS3Error(status: number, xml: string): string {
  const code = inside(xml, 'Code')
  return code === ''
    ? `HTTP ${status}`
    : `${code} (HTTP ${status})${inside(xml, 'Message') === '' ? '' : `: ${inside(xml, 'Message')}`}`
}

function inside(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
  return text.replaceAll(/&(?:lt|gt|quot|apos|amp|#(\d{1,6})|#x([0-9a-fA-F]{1,5}));/g, (entity, decimal, hex) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    return ENTITIES[entity] ?? entity
  })
}

const ENTITIES: Words = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' }
