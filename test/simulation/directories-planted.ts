import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { tellStory } from './directories-story.ts'

/** A planted bug of the product, and the message by which the stories of the directories must find it. */
export interface Bug {
  readonly bug: string
  readonly changes: readonly (readonly [file: string, from: string, to: string])[]
  readonly found: RegExp
  /** A story in which it does harm. */
  readonly seed: number
}

/** Enough for what the seeds of the bugs lead to. */
export const TURNS = 2
const root = path.resolve(import.meta.dirname, '../..')

/** A property that nothing breaks proves nothing: with each of these the stories must fail. */
export function findsBugs(bugs: readonly Bug[]): void {
  const scratch = mkdtempSync(path.join(tmpdir(), 'croft-directories-'))
  after(() => rmSync(scratch, { recursive: true }))
  for (const [index, { bug, changes, found, seed }] of bugs.entries()) {
    test(`the stories of the directories find a planted bug: ${bug}`, async () => {
      const tell = await planted(path.join(scratch, String(index)), changes)
      await assert.rejects(tell(seed, TURNS, `seed ${seed}`), (error) => {
        assert.match(error instanceof Error ? error.message : '', found)
        return true
      })
    })
  }
}

/** A copy of the sources with the bug in it, so that the real ones stay as they are. */
async function planted(copy: string, changes: Bug['changes']): Promise<typeof tellStory> {
  mkdirSync(path.join(copy, 'test'), { recursive: true })
  for (const folder of [
    'src',
    'sim',
    'test/simulation',
    'test/cluster-ground.ts',
    'test/destroying-calls.ts',
    'package.json',
  ])
    cpSync(path.join(root, folder), path.join(copy, folder), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  for (const [file, from, to] of changes) {
    const text = readFileSync(path.join(copy, file), 'utf8')
    assert.equal(text.split(from).length, 2, `${file} holds exactly once: ${from}`)
    writeFileSync(
      path.join(copy, file),
      text.replace(from, () => to),
    )
  }
  const at = pathToFileURL(path.join(copy, 'test/simulation/directories-story.ts')).href
  const { tellStory: tell } = (await import(at)) as { readonly tellStory: typeof tellStory }
  return tell
}
