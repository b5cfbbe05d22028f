/** A small ISO 9660 image with Joliet names. Its bytes, dates included, depend only on the files. */
export interface IsoFile {
  readonly name: string
  readonly bytes: Uint8Array
}

const SECTOR = 2048
/** The first sixteen sectors are for boot loaders, and this disc is not for booting. */
const PRIMARY = 16
const JOLIET = 17
const END = 18
const PRIMARY_PATHS = { little: 19, big: 20, root: 23 }
const JOLIET_PATHS = { little: 21, big: 22, root: 24 }
const FIRST_FILE = 25
const PATH_TABLE_BYTES = 10
/** 2000-01-01 00:00:00 UTC, as a directory and as a descriptor write it. */
const SHORT_DATE = [100, 1, 1, 0, 0, 0, 0]
const LONG_DATE = '2000010100000000'
const NO_DATE = '0000000000000000'

interface PlacedFile extends IsoFile {
  readonly sector: number
}

type Encode = (text: string) => Uint8Array

/** `volumeId` in capital letters, digits and underscores, at most 16. Names are short and differ. */
export function isoImage(volumeId: string, files: readonly IsoFile[]): Uint8Array {
  if (!/^[A-Z0-9_]{1,16}$/.test(volumeId)) throw new Error(`${volumeId} cannot be the name of a volume`)
  const placed = place(files)
  const last = placed.at(-1)
  const sectors = last === undefined ? FIRST_FILE : last.sector + sectorsOf(last)
  const image = new Uint8Array(sectors * SECTOR)
  const at = (sector: number) => new DataView(image.buffer, sector * SECTOR, SECTOR)

  describe(at(PRIMARY), 1, volumeId, ascii, PRIMARY_PATHS, sectors)
  describe(at(JOLIET), 2, volumeId, ucs2, JOLIET_PATHS, sectors)
  // The escape sequence for UCS-2 level 3 is what makes the second descriptor a Joliet one.
  put(at(JOLIET), 88, ascii('%/E'))
  begin(at(END), 255)
  for (const { little, big, root } of [PRIMARY_PATHS, JOLIET_PATHS]) {
    pathTable(at(little), root, true)
    pathTable(at(big), root, false)
  }
  directory(at(PRIMARY_PATHS.root), PRIMARY_PATHS.root, placed, (name) => ascii(`${name.toUpperCase()};1`))
  directory(at(JOLIET_PATHS.root), JOLIET_PATHS.root, placed, (name) => ucs2(`${name};1`))
  for (const file of placed) image.set(file.bytes, file.sector * SECTOR)
  return image
}

/** Sorted by name, as directories require. */
function place(files: readonly IsoFile[]): readonly PlacedFile[] {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1))
  const names = new Set<string>()
  let sector = FIRST_FILE
  return sorted.map((file) => {
    if (!/^[a-z][a-z0-9-]{0,26}$/.test(file.name) || names.has(file.name))
      throw new Error(`${file.name} cannot be the name of a file in this image`)
    names.add(file.name)
    const here = { ...file, sector }
    sector += sectorsOf(file)
    return here
  })
}

/** An empty file still gets a sector, so that no reader meets one beyond the end. */
function sectorsOf(file: IsoFile): number {
  return Math.max(1, Math.ceil(file.bytes.length / SECTOR))
}

function begin(view: DataView, type: number): void {
  view.setUint8(0, type)
  put(view, 1, ascii('CD001'))
  view.setUint8(6, 1)
}

function describe(
  view: DataView,
  type: number,
  volumeId: string,
  encode: Encode,
  paths: typeof PRIMARY_PATHS,
  sectors: number,
): void {
  begin(view, type)
  fill(view, 8, 32, encode)
  fill(view, 40, 32, encode, volumeId)
  both32(view, 80, sectors)
  both16(view, 120, 1)
  both16(view, 124, 1)
  both16(view, 128, SECTOR)
  both32(view, 132, PATH_TABLE_BYTES)
  view.setUint32(140, paths.little, true)
  view.setUint32(148, paths.big, false)
  record(view, 156, paths.root, SECTOR, 2, new Uint8Array(1))
  for (const [start, length] of [
    [190, 128],
    [318, 128],
    [446, 128],
    [574, 128],
    [702, 37],
    [739, 37],
    [776, 37],
  ] as const)
    fill(view, start, length, encode)
  for (const [start, date] of [
    [813, LONG_DATE],
    [830, LONG_DATE],
    [847, NO_DATE],
    [864, NO_DATE],
  ] as const)
    put(view, start, ascii(date))
  view.setUint8(881, 1)
}

function pathTable(view: DataView, root: number, little: boolean): void {
  view.setUint8(0, 1)
  view.setUint32(2, root, little)
  view.setUint16(6, 1, little)
}

function directory(view: DataView, self: number, files: readonly PlacedFile[], encode: Encode): void {
  let offset = record(view, 0, self, SECTOR, 2, new Uint8Array([0]))
  offset = record(view, offset, self, SECTOR, 2, new Uint8Array([1]))
  for (const file of files) offset = record(view, offset, file.sector, file.bytes.length, 0, encode(file.name))
}

/** Writes one directory entry. Returns the offset of the next one. */
function record(
  view: DataView,
  offset: number,
  sector: number,
  bytes: number,
  flags: number,
  name: Uint8Array,
): number {
  const length = 33 + name.length + ((name.length + 1) % 2)
  if (offset + length > SECTOR) throw new Error('more files than one directory sector holds')
  view.setUint8(offset, length)
  both32(view, offset + 2, sector)
  both32(view, offset + 10, bytes)
  put(view, offset + 18, SHORT_DATE)
  view.setUint8(offset + 25, flags)
  both16(view, offset + 28, 1)
  view.setUint8(offset + 32, name.length)
  put(view, offset + 33, name)
  return offset + length
}

/** Numbers stand there twice, once for each kind of machine. */
function both16(view: DataView, offset: number, value: number): void {
  view.setUint16(offset, value, true)
  view.setUint16(offset + 2, value, false)
}

function both32(view: DataView, offset: number, value: number): void {
  view.setUint32(offset, value, true)
  view.setUint32(offset + 4, value, false)
}

function put(view: DataView, offset: number, bytes: ArrayLike<number>): void {
  for (let at = 0; at < bytes.length; at++) view.setUint8(offset + at, bytes[at] ?? 0)
}

/** Text fields are filled up with spaces. */
function fill(view: DataView, offset: number, length: number, encode: Encode, text = ''): void {
  const space = encode(' ')
  for (let at = 0; at + space.length <= length; at += space.length) put(view, offset + at, space)
  put(view, offset, encode(text))
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

function ucs2(text: string): Uint8Array {
  return Uint8Array.from([...text].flatMap((letter) => [letter.charCodeAt(0) >> 8, letter.charCodeAt(0) & 255]))
}
