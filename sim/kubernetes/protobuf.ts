import type { Tree } from './object.ts'
import { fieldsOf, type MessageField } from './protobuf-messages.ts'

/* Objects as typed clients of Kubernetes send them. Answers are always JSON, which those clients read as well. */

const MAGIC = Buffer.from('k8s\0')

/** The object in such a body; undefined when it is in a form that is not known here. */
export function objectFromProtobuf(body: Uint8Array): Tree | undefined {
  const bytes = Buffer.from(body)
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  try {
    const { typeMeta, raw } = decode('Unknown', bytes.subarray(MAGIC.length))
    const { apiVersion, kind } = (typeMeta ?? {}) as Tree
    if (typeof kind !== 'string' || typeof raw !== 'string') return undefined
    return { apiVersion, kind, ...decode(kind, Buffer.from(raw, 'base64')) }
  } catch (error) {
    if (error instanceof NotKnown) return undefined
    throw error
  }
}

class NotKnown extends Error {}

function decode(message: string, bytes: Buffer): Tree {
  const fields = fieldsOf(message)
  if (fields === undefined) throw new NotKnown(message)
  const found: Record<string, unknown> = {}
  for (const [number, value] of wireFields(bytes)) {
    if (message === 'Nothing') continue
    const field = fields.get(number)
    if (field === undefined) throw new NotKnown(`${message} ${number}`)
    const { name, many } = field
    if (many === 'map') found[name] = { ...(found[name] as Tree | undefined), ...entryOf(field, value) }
    else if (many === 'list') found[name] = [...((found[name] ?? []) as unknown[]), readValue(field.type, value)]
    else {
      const read = readValue(field.type, value)
      if (!isNothing(field, read)) found[name] = read
    }
  }
  // The rule of an Ingress is written as part of the host that it is for.
  const { ingressRuleValue, ...rest } = found
  return message === 'IngressRule' ? { ...rest, ...(ingressRuleValue as Tree | undefined) } : found
}

function entryOf({ type }: MessageField, value: bigint | Buffer): Tree {
  const parts = new Map(wireFields(bufferOf(value)))
  const [key, held] = [parts.get(1), parts.get(2)]
  return { [bufferOf(key).toString('utf8')]: readValue(type, held ?? Buffer.alloc(0)) }
}

function readValue(type: string, value: bigint | Buffer): unknown {
  switch (type) {
    case 'string':
      return bufferOf(value).toString('utf8')
    case 'bytes':
      return bufferOf(value).toString('base64')
    case 'int':
    case 'count':
      return Number(BigInt.asIntN(64, numberOf(value)))
    case 'bool':
    case 'flag':
      return numberOf(value) !== 0n
  }
  const inner = decode(type, bufferOf(value))
  if (type === 'Quantity') return inner.string ?? '0'
  if (type === 'IntOrString') return inner.type === 1 ? inner.strVal : (inner.intVal ?? 0)
  if (type !== 'Time') return inner
  return inner.seconds === undefined ? undefined : new Date(Number(inner.seconds) * 1000).toISOString()
}

/** Reports whether a value is left out of the message. An empty selector is sent: it selects everything. */
function isNothing({ type }: MessageField, value: unknown): boolean {
  if (value === undefined || value === '') return true
  if (type === 'flag' || type === 'count') return value === false || value === 0
  return type !== 'LabelSelector' && typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** The fields of a message as they stand on the wire: numbers, and everything that has a length. */
function* wireFields(bytes: Buffer): Generator<readonly [number, bigint | Buffer]> {
  let at = 0
  const varint = (): bigint => {
    let [value, shift] = [0n, 0n]
    for (;;) {
      const byte = bytes[at++]
      if (byte === undefined || shift > 63n) throw new NotKnown('cut short')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
      shift += 7n
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const number = Number(tag >> 3n)
    const kind = Number(tag & 7n)
    if (kind === 0) yield [number, varint()]
    else if (kind === 2) {
      const length = Number(varint())
      if (at + length > bytes.length) throw new NotKnown('cut short')
      yield [number, bytes.subarray(at, at + length)]
      at += length
    } else throw new NotKnown(`wire type ${kind}`)
  }
}

function bufferOf(value: bigint | Buffer | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0)
  if (typeof value === 'bigint') throw new NotKnown('a number where a text is meant')
  return value
}

function numberOf(value: bigint | Buffer): bigint {
  if (typeof value !== 'bigint') throw new NotKnown('a text where a number is meant')
  return value
}
