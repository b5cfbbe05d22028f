import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly resolved?: string
  readonly link?: boolean
}

const root = join(import.meta.dirname, '..')
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}
const packages = Object.entries(lock.packages).filter(([name]) => name !== '')

/** Licences whose code may be used by a program under Apache-2.0. */
const LICENCES = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']
/** Has a script for platforms whose binary is in no package; it is never run, because no install script is. */
const WITH_SCRIPT = ['node_modules/esbuild']

describe('[S-28] what is installed', () => {
  test('is pinned by its content, to the byte', () => {
    const loose = packages.filter(
      ([, { integrity, link }]) => link !== true && integrity?.startsWith('sha512-') !== true,
    )
    assert.deepEqual(
      loose.map(([name]) => name),
      [],
    )
  })

  test('names no place: it comes from the registry that npm is told to use, and its content decides', () => {
    const placed = packages.filter(([, { resolved }]) => resolved !== undefined)
    assert.deepEqual(
      placed.map(([name]) => name),
      [],
    )
  })

  test('runs no script of its own: those that bring one are known, and the set-up lets none run', () => {
    const scripted = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([name]) => name)
    assert.deepEqual(scripted, WITH_SCRIPT)
    assert.match(readFileSync(join(root, 'scripts/setup.cjs'), 'utf8'), /'ci', '--ignore-scripts'/)
  })

  test('is under licences that go with ours', () => {
    const foreign = packages.filter(([, { license = '' }]) => {
      const words = license.replaceAll(/[()]/g, '').split(/ (?:AND|OR) /)
      const need = license.includes(' AND ') ? 'every' : 'some'
      return !words[need]((word) => LICENCES.includes(word))
    })
    assert.deepEqual(
      foreign.map(([name, { license }]) => `${name} ${license}`),
      [],
    )
  })
})
