import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandsOf } from './printed.ts'

const ROOT = join(import.meta.dirname, '../..')

test('the command that CONTRIBUTING prints for it formats a folder', () => {
  const room = mkdtempSync(join(tmpdir(), 'croft-contributing-'))
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(room, 'node_modules'))
    for (const path of ['biome.json', '.gitignore', 'src/plan/guards'])
      cpSync(join(ROOT, path), join(room, path), { recursive: true })
    const file = join(room, 'src/plan/guards/guard.ts')
    const formatted = readFileSync(file, 'utf8')
    writeFileSync(file, formatted.replaceAll('\n', '\n\n\n'))
    const command = commandsOf('CONTRIBUTING.md').find(({ name }) => name.includes('biome'))?.text ?? ''
    const ran = spawnSync('bash', ['-c', command], { cwd: room, encoding: 'utf8' })
    assert.equal(ran.status, 0, `${command}: ${ran.stdout}${ran.stderr}`)
    assert.notEqual(readFileSync(file, 'utf8'), formatted.replaceAll('\n', '\n\n\n'))
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
})
