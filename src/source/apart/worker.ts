import { writeSync } from 'node:fs'
import { holds } from '../../lib/cel.ts'
import { systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { answerInCluster, describedDefinitions, readDefinitions } from '../compose/in-cluster.ts'
import { expandLate } from '../compose/late.ts'
import { readFiles } from '../files/read-files.ts'
import { importText } from '../foreign/import-text.ts'
import type { Revision, SourceFile } from '../git/revision.ts'
import { generatorFilesOf } from '../kustomize/tree.ts'
import { kustomized } from '../objects-at.ts'
import { objectsOfBlobs } from '../read-here.ts'
import { type CageJob, type CageMessage, type CageOrder, PLACE_FD } from './job.ts'
import { piecesOf, piecesOfExpanded } from './pack.ts'

/* Runs in a separate process that may be killed at any moment: see cage.ts. */

let files: SourceFile[] = []
let left: Iterator<CageMessage> | undefined

process.on('message', (order: CageOrder) => {
  if (order === 'next') answerNext()
  else if ('files' in order) files.push(...order.files)
  else {
    // Load the library first: that time does not count for the job.
    if (order.job === 'answers' || order.job === 'compose') holds('true', {})
    say({ said: 'begun' })
    left = performed(order, files)
    files = []
    answerNext()
  }
})
// The program is gone. The signals of a terminal and of a service manager are for the program, which ends this process.
process.on('disconnect', () => process.exit())
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

function say(message: CageMessage): void {
  process.send?.(message)
}

function answerNext(): void {
  say(nextMessage())
}

function nextMessage(): CageMessage {
  try {
    const next = left?.next()
    if (next?.done === false) return next.value
    left = undefined
    return { said: 'end', rssMb: process.memoryUsage.rss() / 1024 ** 2 }
  } catch (error) {
    left = undefined
    return { said: 'failed', message: error instanceof Error ? error.message : String(error) }
  }
}

/** Written at once, so that the program knows the place of a job that it has to end. */
function begin(index: number): void {
  writeSync(PLACE_FD, new Int32Array([index]))
}

/** Answers at least one question, and further ones within the time limit, because others wait for this process. */
function forAWhile<Q, A>(questions: readonly Q[], answer: (question: Q, index: number) => A): readonly A[] {
  const answers: A[] = []
  const untilMs = systemClock.monotonicMs() + LIMITS.answerMs
  for (const [index, question] of questions.entries()) {
    if (index > 0 && systemClock.monotonicMs() > untilMs) break
    answers.push(answer(question, index))
  }
  return answers
}

function* performed(job: CageJob, given: readonly SourceFile[]): Generator<CageMessage> {
  switch (job.job) {
    case 'generator-files':
      return yield { said: 'names', names: generatorFilesOf(given) }
    case 'import':
      return yield { said: 'imported', imported: importText(job, given.flatMap(textOf)) }
    case 'answers':
      return yield {
        said: 'answers',
        answers: forAWhile(job.questions, ({ expression, object, name }, index) => {
          begin(index)
          const begunMs = systemClock.monotonicMs()
          return { holds: holds(expression, object, name), ms: systemClock.monotonicMs() - begunMs }
        }),
      }
    case 'compose': {
      begin(0)
      const definitions = readDefinitions(job.definitions)
      const answers = forAWhile(job.questions, (question, index) => {
        begin(index + 1)
        return answerInCluster(definitions, question)
      })
      return yield { said: 'composed', composed: { described: describedDefinitions(definitions), answers } }
    }
    case 'objects':
      return yield* piecesIn(withObjects(objectsOfBlobs(job.blobs)), [''])
    case 'kustomized':
      return yield* piecesIn(withObjects(kustomized({ ...job.unbuilt, fetched: job.fetched }, job.unbuilt.directory)), [
        '',
      ])
    case 'late': {
      const expanded = expandLate(job.instances, job.known, (index) => begin(index + 1))
      for (const piece of piecesOfExpanded(expanded)) yield { said: 'piece', piece }
      return
    }
    case 'tree': {
      const revision = readFiles({ ...job.reading, files: given, begin: (index) => begin(index + 2) })
      return yield* piecesIn(revision, [...job.places, ...namedIn(revision)])
    }
  }
}

function* piecesIn(revision: Revision, places: readonly string[]): Generator<CageMessage> {
  const { id, files: count, incomplete, unreadable } = revision.late?.base ?? revision
  yield { said: 'tree', head: { id, files: count, incomplete, unreadable } }
  for (const piece of piecesOf(revision, places)) yield { said: 'piece', piece }
}

/** Returns the paths that the tree's add-ons name. */
function namedIn({ declarations }: Revision): readonly string[] {
  return declarations.flatMap(({ kind, spec }) => {
    const { path } = spec as { readonly path?: string }
    return kind === 'Addon' && path !== undefined ? [path] : []
  })
}

function withObjects(found: ReturnType<typeof objectsOfBlobs>): Revision {
  return { ...readFiles({ files: [], links: [] }), objectsAt: () => found }
}

function textOf(file: SourceFile): readonly { readonly path: string; readonly text: string }[] {
  return 'bytes' in file ? [{ path: file.path, text: Buffer.from(file.bytes).toString() }] : []
}
