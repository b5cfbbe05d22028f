const BLOCK = 512

/** The plain files of a tar archive. Links and devices are none of them. */
export function filesOfTar(bytes: Uint8Array): readonly { readonly name: string; readonly bytes: Uint8Array }[] {
  const files: { name: string; bytes: Uint8Array }[] = []
  const text = (from: number, length: number) =>
    Buffer.from(bytes.subarray(from, from + length))
      .toString('utf8')
      .replace(/\0.*$/s, '')
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const name = text(at, 100)
    if (name === '') break
    const size = Number.parseInt(text(at + 124, 12).trim() || '0', 8)
    if (!Number.isSafeInteger(size) || size < 0 || at + BLOCK + size > bytes.length) break
    const type = text(at + 156, 1)
    const prefix = text(at + 345, 155)
    if (type === '' || type === '0')
      files.push({
        name: prefix === '' ? name : `${prefix}/${name}`,
        bytes: bytes.subarray(at + BLOCK, at + BLOCK + size),
      })
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return files
}
