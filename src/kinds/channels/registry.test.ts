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

test('a channel costs its file, its line in the registry and its row on the page', () => {
  const root = join(import.meta.dirname, '../../..')
  const files = globSync(['src/kinds/**/*.ts', 'docs/kinds/notification.md'], { cwd: root }).filter(
    (file) => !/\.test\.ts$|^src\/kinds\/channels\//.test(file),
  )
  const names = CHANNELS.map(({ name }) => name).filter((name) => name !== 'webhook')
  const naming = files.flatMap((file) => {
    // Only a page's tables count: an example may use any channel.
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
    return names.filter((name) => new RegExp(`\\b${name}\\b`, 'i').test(text)).map((name) => `${file}: ${name}`)
  })
  assert.deepEqual(naming, [])
})
