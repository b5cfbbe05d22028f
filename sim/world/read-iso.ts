/** The files in the root of an ISO 9660 image by their Joliet names, and its volume id. Undefined: it is no such image. */
export function readIso(
  image: Uint8Array,
): { readonly volumeId: string; readonly files: ReadonlyMap<string, Uint8Array> } | undefined {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength)
  let joliet: number | undefined
  let volumeId: string | undefined
  for (let at = 16 * SECTOR; at + SECTOR <= image.length; at += SECTOR) {
    const type = image[at]
    if (ascii(image, at + 1, 5) !== 'CD001' || type === 255) break
    if (type === 1) volumeId = ascii(image, at + 40, 32).trimEnd()
    if (type === 2 && /^%\/[@CE]$/.test(ascii(image, at + 88, 3))) joliet = at
  }
  if (volumeId === undefined || joliet === undefined) return undefined
  const files = new Map<string, Uint8Array>()
  const start = view.getUint32(joliet + 158, true) * SECTOR
  const end = Math.min(image.length, start + view.getUint32(joliet + 166, true))
  for (let at = start; at < end; at += image[at] ?? SECTOR) {
    const length = image[at] ?? 0
    if (length < 34) break
    const isDirectory = ((image[at + 25] ?? 0) & 2) !== 0
    if (isDirectory) continue
    const from = view.getUint32(at + 2, true) * SECTOR
    const name = ucs2(view, at + 33, image[at + 32] ?? 0).replace(/;1$/, '')
    files.set(name, image.subarray(from, from + view.getUint32(at + 10, true)))
  }
  return { volumeId, files }
}

const SECTOR = 2048

function ascii(image: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...image.subarray(at, at + length))
}

function ucs2(view: DataView, at: number, bytes: number): string {
  let text = ''
  for (let offset = 0; offset + 1 < bytes; offset += 2) text += String.fromCharCode(view.getUint16(at + offset, false))
  return text
}
