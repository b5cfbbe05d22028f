import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { COPIES } from '../../k3s/node-program.ts'
import { type NodeRoot, nodeRoot } from '../../k3s/testing/node-root.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Shell } from '../../lib/shell.ts'
import { copySnapshot } from './copy-snapshot.ts'

let [here, there]: [NodeRoot, NodeRoot] = [undefined as unknown as NodeRoot, undefined as unknown as NodeRoot]
beforeEach(() => {
  ;[here, there] = [nodeRoot(), nodeRoot()]
})
afterEach(() => {
  here.remove()
  there.remove()
})

const TO = `${COPIES}/one`
const BYTES = randomBytes(3 * LIMITS.snapshotPieceBytes + 12_345)

/** Runs a node's real program in sh, like a shell to it. */
function shellTo(root: NodeRoot, asked: string[] = []): Shell {
  return {
    run: async (argv, options) => {
      asked.push(argv.slice(1, 4).join(' '))
      const answer = await root.ask(argv.slice(1), options?.input === undefined ? undefined : String(options.input))
      return { code: 0, stdout: JSON.stringify(answer), stderr: '' }
    },
    readFile: () => Promise.reject(new Error('no file is read whole')),
    writeFile: () => Promise.reject(new Error('no file is written whole')),
    close: () => Promise.resolve(),
  }
}

function put(root: NodeRoot, bytes: Buffer): void {
  mkdirSync(path.join(root.directory, 'srv'), { recursive: true })
  writeFileSync(path.join(root.directory, 'srv/one'), bytes)
}

function copy(asked: string[] = [], isLate = () => false) {
  return copySnapshot({
    from: { name: 's1', shell: shellTo(here), path: '/srv/one' },
    to: { name: 's9', shell: shellTo(there, asked), path: TO },
    isLate,
    signal: new AbortController().signal,
  })
}

test('[R20-5] a snapshot goes in pieces, says how far it is, and goes on where it stopped', async () => {
  put(here, BYTES)
  let pieces = 0
  const first = await copy([], () => pieces++ >= 2)
  assert.ok(first.result === 'refused' && first.refusal.meaning === 'waiting')
  assert.match(first.refusal.message, /^copied 4 of 7 MiB to s9$/)
  const asked: string[] = []
  assert.deepEqual(await copy(asked), { result: 'done' })
  assert.deepEqual(
    asked.filter((words) => words.startsWith('take ')),
    [2, 3].map((piece) => `take ${TO} ${piece * LIMITS.snapshotPieceBytes}`),
  )
  const arrived = readFileSync(path.join(there.directory, TO))
  assert.equal(createHash('sha256').update(arrived).digest('hex'), createHash('sha256').update(BYTES).digest('hex'))
})

test('[R20-5] what changed under the copy is refused, and the next try begins anew', async () => {
  put(here, BYTES)
  let pieces = 0
  await copy([], () => pieces++ >= 1)
  put(here, randomBytes(BYTES.length))
  const mixed = await copy()
  assert.ok(mixed.result === 'refused' && /another checksum/.test(mixed.refusal.message))
  assert.deepEqual(await copy(), { result: 'done' })
})

test('[R20-5] a snapshot that is not there is told by its path', async () => {
  const outcome = await copy()
  assert.ok(outcome.result === 'refused' && /there is no file \/srv\/one/.test(outcome.refusal.message))
})
