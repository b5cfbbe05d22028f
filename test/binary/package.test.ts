import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { build } from '../../scripts/build.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test('what is published runs without its TypeScript: help, version, a valid example', () => {
  const directory = mkdtempSync(join(tmpdir(), 'croft-package-'))
  try {
    assert.equal(build(join(directory, 'dist')), undefined)
    for (const name of ['bin', 'examples', 'package.json']) {
      cpSync(join(ROOT, name), join(directory, name), { recursive: true })
    }
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
    const croft = (...args: readonly string[]) =>
      spawnSync(process.execPath, [join(directory, 'bin', 'croft'), ...args], {
        encoding: 'utf8',
        cwd: directory,
        env: { ...process.env, XDG_CACHE_HOME: join(directory, 'cache') },
      })
    assert.match(croft('--help').stdout, /Keeps K3s clusters/)
    assert.match(croft('version').stdout, /^croft \d+\.\d+\.\d+/)
    const valid = croft('validate', 'examples/k3s-proxmox')
    assert.equal(valid.status, 0, valid.stderr)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
