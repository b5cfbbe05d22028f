import type { ObjectsAt } from '../kinds/kind.ts'
import { LIMITS } from '../lib/limits.ts'
import { readFiles } from './files/read-files.ts'
import { generatorFilesOf } from './kustomize/tree.ts'
import { kustomized, objectsIn } from './objects-at.ts'
import type { FetchedBlob, SourceReader } from './reader.ts'
import { textOf } from './yaml/text-of.ts'

/** Reads in this very thread: for commands, which have nothing else to do, and inside of the worker. */
export const readHere: SourceReader = {
  tree: async (reading) => readFiles(reading),
  objects: async (blobs) => objectsOfBlobs(blobs),
  kustomized: async (unbuilt, fetched) => kustomized({ ...unbuilt, fetched }, unbuilt.directory),
  generatorFiles: async (files) => generatorFilesOf(files),
}

/** The objects of what was fetched, which may be packed. */
export function objectsOfBlobs(blobs: readonly FetchedBlob[]): ObjectsAt {
  const objects: unknown[] = []
  for (const { name, bytes, tar = false } of blobs) {
    const packed = bytes[0] === 0x1f && bytes[1] === 0x8b
    // Loaded for the first packed one: most trees have none.
    const plain = packed
      ? process.getBuiltinModule('node:zlib').gunzipSync(bytes, { maxOutputLength: LIMITS.addonBytes })
      : bytes
    for (const one of tar ? filesOfTar(plain) : [{ name, bytes: plain }]) {
      if (tar && !/\.(?:ya?ml|json)$/i.test(one.name)) continue
      const found = objectsOfBytes(one.name, one.bytes)
      if ('problem' in found) return found
      objects.push(...found.objects)
      if (objects.length > LIMITS.addonObjects) return { problem: `more than ${LIMITS.addonObjects} objects` }
    }
  }
  return { objects }
}

function objectsOfBytes(name: string, bytes: Uint8Array): ObjectsAt {
  const text = textOf(bytes)
  return 'text' in text ? objectsIn(name, text.text) : { problem: `${name}: ${text.finding.message}` }
}

const BLOCK = 512

/** Returns the plain files of a tar archive, without links and devices. */
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
