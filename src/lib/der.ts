/** The few shapes of DER that a certificate is made of. */
export type Der = Buffer

export function sequence(...parts: readonly Der[]): Der {
  return wrap(0x30, Buffer.concat(parts))
}

export function setOf(...parts: readonly Der[]): Der {
  return wrap(0x31, Buffer.concat(parts))
}

/** A whole number that is not negative, from its bytes, highest first. */
export function integer(bytes: Uint8Array): Der {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1
  const body = bytes.subarray(start)
  const first = body[0] ?? 0
  return wrap(0x02, first >= 0x80 ? Buffer.concat([Buffer.of(0), body]) : Buffer.from(body))
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Der {
  return wrap(0x03, Buffer.concat([Buffer.of(unusedBits), bytes]))
}

export function octetString(bytes: Uint8Array): Der {
  return wrap(0x04, Buffer.from(bytes))
}

export function boolean(value: boolean): Der {
  return wrap(0x01, Buffer.of(value ? 0xff : 0))
}

export function utf8String(text: string): Der {
  return wrap(0x0c, Buffer.from(text, 'utf8'))
}

/** `1.2.840.10045.4.3.2`. */
export function objectId(text: string): Der {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups = [part & 0x7f]
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return wrap(0x06, Buffer.from(bytes))
}

/** Two digits of the year until 2049, four after: so the standard says. */
export function time(at: Date): Der {
  const digits = at.toISOString().replace(/[-:T]/g, '').slice(0, 14)
  return at.getUTCFullYear() < 2050
    ? wrap(0x17, Buffer.from(`${digits.slice(2)}Z`, 'ascii'))
    : wrap(0x18, Buffer.from(`${digits}Z`, 'ascii'))
}

/** A part that has a number instead of a type; `constructed` when it holds other parts. */
export function tagged(number: number, body: Uint8Array, constructed = true): Der {
  return wrap((constructed ? 0xa0 : 0x80) | number, Buffer.from(body))
}

function wrap(tag: number, body: Uint8Array): Der {
  return Buffer.concat([Buffer.of(tag), length(body.length), body])
}

function length(count: number): Buffer {
  if (count < 0x80) return Buffer.of(count)
  const bytes: number[] = []
  for (let left = count; left > 0; left = Math.floor(left / 256)) bytes.unshift(left & 0xff)
  return Buffer.of(0x80 | bytes.length, ...bytes)
}
