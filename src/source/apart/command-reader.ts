import type { Clock } from '../../lib/clock.ts'
import { NeedsCage } from '../needs-cage.ts'
import { readHere } from '../read-here.ts'
import type { SourceReader } from '../reader.ts'

/**
 * Reads for a command of a person. A tree of plain manifests is read at once, in this process, which keeps what it judged
 * for the next time. Everything that is built, expanded or evaluated, and everything that was fetched, is read in the cage:
 * the command answers to signals meanwhile, and what is too costly is named.
 */
export function createCommandReader(clock: Clock): SourceReader {
  let caged: Promise<SourceReader> | undefined
  const cage = (): Promise<SourceReader> => {
    caged ??= import('./reader.ts').then(({ createWorkerReader }) => createWorkerReader({ clock }))
    return caged
  }
  return {
    async tree(reading, places) {
      try {
        return await readHere.tree({ ...reading, evaluates: false })
      } catch (error) {
        if (!(error instanceof NeedsCage)) throw error
      }
      return (await cage()).tree(reading, places)
    },
    objects: async (blobs) => (await cage()).objects(blobs),
    kustomized: async (unbuilt, fetched) => (await cage()).kustomized(unbuilt, fetched),
    generatorFiles: async (files) => (await cage()).generatorFiles(files),
  }
}
