import { readFileSync, rmSync } from 'node:fs'
import { replaceFile } from '../lib/atomic-file.ts'
import { jsonIn } from '../lib/foreign-json.ts'
import { isRecord } from '../lib/is-record.ts'

/** Says where what a database holds has moved to, or is about to. Apart from it, so that it outlives it. */
export interface StoredMoveMark {
  readonly id: string
  readonly phase: 'preparing' | 'moved'
  readonly cluster: string
  readonly namespace: string
}

/** Reads the mark of a move. An unreadable one locks the database, because it was there for a reason. */
export function readMoveMark(database: string): StoredMoveMark | undefined {
  let text: string
  try {
    text = readFileSync(markFile(database), 'utf8')
  } catch (error) {
    // ENOTDIR: there is no database either, and its own message is better.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw error
  }
  const value = jsonIn(text)
  const word = (name: string) => (isRecord(value) && typeof value[name] === 'string' ? value[name] : '')
  const phase = word('phase') === 'preparing' ? 'preparing' : 'moved'
  return { id: word('id'), phase, cluster: word('cluster'), namespace: word('namespace') }
}

export async function writeMoveMark(database: string, mark: StoredMoveMark): Promise<void> {
  await replaceFile(markFile(database), `${JSON.stringify(mark)}\n`)
}

export async function removeMoveMark(database: string): Promise<void> {
  rmSync(markFile(database), { force: true })
}

/** Returns why a database must not be used; undefined if it may be. */
export function movedAway(database: string): string | undefined {
  const mark = readMoveMark(database)
  if (mark === undefined || mark.phase === 'preparing') return undefined
  return `croft operator in the namespace ${mark.namespace} of a cluster keeps this estate since it moved there: change the objects there, or bring it back with croft move-out --namespace ${mark.namespace} --kubeconfig FILE`
}

function markFile(database: string): string {
  return `${database}.move`
}
