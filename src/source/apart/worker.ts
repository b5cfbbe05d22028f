import { parentPort, workerData } from 'node:worker_threads'
import { readFiles } from '../files/read-files.ts'
import type { Revision } from '../git/revision.ts'
import { generatorFilesOf } from '../kustomize/tree.ts'
import { kustomized } from '../objects-at.ts'
import { objectsOfBlobs } from '../read-here.ts'
import type { WorkerData, WorkerMessage } from './job.ts'
import { piecesOf, type RevisionPiece } from './pack.ts'

/* Runs in a thread of its own, which may be ended at any moment: see reader.ts. */

const { job, at } = workerData as WorkerData
const say = (said: WorkerMessage) => parentPort?.postMessage(said)

say({ said: 'begun' })
if (job.job === 'generator-files') {
  say({ said: 'names', names: generatorFilesOf(job.files) })
} else if (job.job === 'objects' || job.job === 'kustomized') {
  const found =
    job.job === 'objects'
      ? objectsOfBlobs(job.blobs)
      : kustomized({ ...job.unbuilt, fetched: job.fetched }, job.unbuilt.directory)
  handOut(piecesOf(withObjects(found), ['']))
  say({ said: 'tree', head: { id: '', files: 0, incomplete: false, unreadable: [] } })
} else {
  const where = new Int32Array(at)
  const revision = readFiles({ ...job.reading, begin: (index) => void Atomics.store(where, 0, index + 2) })
  const { id, files, incomplete, unreadable } = revision.late?.base ?? revision
  handOut(piecesOf(revision, [...job.places, ...namedIn(revision)]))
  say({ said: 'tree', head: { id, files, incomplete, unreadable } })
}

function handOut(pieces: Iterator<RevisionPiece>): void {
  parentPort?.on('message', () => {
    const next = pieces.next()
    if (next.done === true) {
      say({ said: 'end' })
      parentPort?.close()
    } else say({ said: 'piece', piece: next.value })
  })
}

/** Paths of the tree that its add-ons will be asked for. */
function namedIn({ declarations }: Revision): readonly string[] {
  return declarations.flatMap(({ kind, spec }) => {
    const { path } = spec as { readonly path?: string }
    return kind === 'Addon' && path !== undefined ? [path] : []
  })
}

function withObjects(found: ReturnType<typeof objectsOfBlobs>): Revision {
  return { ...readFiles({ files: [], links: [] }), objectsAt: () => found }
}
