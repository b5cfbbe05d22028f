import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { EMPTY_ESTATE, fakeRuntime, planning } from '../testing/fake-runtime.ts'
import { run } from './leave.ts'

test('croft leave --yes looks only when no other croft can change what it sees, and without --yes asks nobody to wait', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'leave-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { openStore, openEngine } = planning({ changes: [] } as never)
  for (const [yes, free, wanted] of [
    [true, true, ['lock', 'look', 'release']],
    [true, false, ['lock']],
    [false, true, ['look']],
    [false, false, ['look']],
  ] as const) {
    const order: string[] = []
    const runtime = fakeRuntime({
      cwd: folder,
      env: { HOME: folder },
      signal: AbortSignal.abort(),
      load: async () => EMPTY_ESTATE,
      openStore,
      openEngine,
      openDrivers: async () => {
        order.push('look')
        return { drivers: [], deps: {} as never }
      },
      lockState: async () => {
        order.push('lock')
        return free ? { got: true, release: () => void order.push('release') } : { got: false }
      },
    })
    const left = run(runtime, ['.'], yes ? { yes } : {})
    if (yes && !free) await assert.rejects(left, /Another croft/)
    else assert.equal(await left, 0)
    assert.deepEqual(order, wanted)
  }
})
