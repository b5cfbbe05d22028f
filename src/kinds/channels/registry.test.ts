import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CHANNELS } from './registry.ts'

test('every channel of the folder is registered and documented', () => {
  const dashed = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const files = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['channel.ts', 'registry.ts', '*.test.ts'] })
  assert.deepEqual(CHANNELS.map(({ name }) => `${dashed(name)}.ts`).toSorted(), files.toSorted())
  const page = readFileSync(join(import.meta.dirname, '../../../docs/notifications.md'), 'utf8')
  assert.deepEqual(
    CHANNELS.filter(({ name }) => !page.includes(`\`${name}\``)).map(({ name }) => name),
    [],
  )
})
