import { gunzipSync } from 'node:zlib'
import type { ObjectsAt } from '../kinds/kind.ts'
import { LIMITS } from '../lib/limits.ts'
import { generatorFilesOf } from './kustomize/tree.ts'
import { objectsIn } from './objects-at.ts'
import { readFiles } from './read-files.ts'
import type { FetchedBlob, SourceReader } from './reader.ts'
import { filesOfTar } from './tar.ts'
import { textOf } from './text-of.ts'

/** Reads in this very thread: for commands, which have nothing else to do, and inside of the worker. */
export const readHere: SourceReader = {
  tree: async (reading) => readFiles(reading),
  objects: async (blobs) => objectsOfBlobs(blobs),
  generatorFiles: async (files) => generatorFilesOf(files),
}

/** The objects of what was fetched, which may be packed. */
export function objectsOfBlobs(blobs: readonly FetchedBlob[]): ObjectsAt {
  const objects: unknown[] = []
  for (const { name, bytes, tar = false } of blobs) {
    const packed = bytes[0] === 0x1f && bytes[1] === 0x8b
    const plain = packed ? gunzipSync(bytes, { maxOutputLength: LIMITS.addonBytes }) : bytes
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
