import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { savedPlanAt } from '../cli/saved-plan.ts'
import { LIMITS } from '../lib/limits.ts'
import { revisionAt } from './configured-sources.ts'

test('[S-55] a file of somebody else that is taken for a configuration or a plan is not read when it is too large', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'croft-configured-'))
  const file = path.join(directory, 'plan')
  try {
    // Read as YAML it would take minutes; as it is refused by its size alone, its text does not matter.
    writeFileSync(file, `[${'{},'.repeat(LIMITS.configurationBytes / 3)}{}]`)
    await assert.rejects(revisionAt(file), /is a file with more than 262144 bytes and no configuration of croft run/)
    assert.equal(savedPlanAt(file), undefined)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
