import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { findRegistryBreaches } from './layers-registry.ts'
import { type Breach, findBreaches, MAY_IMPORT, PURE, unreached } from './layers-rules.ts'
import { codeOf, importsOf, type SourceFile } from './layers-source.ts'

const root = dirname(import.meta.dirname)
const read = (path: string): SourceFile => ({ path, text: readFileSync(join(root, path), 'utf8') })
const sources = globSync(['src/**/*.ts', 'sim/**/*.ts'], { cwd: root }).map(read)
const pages = globSync(['docs/kinds/*.md', 'docs/drivers/*.md', 'docs/import/*.md'], { cwd: root }).map((path) => ({
  path,
  text: '',
}))

describe('the sources', () => {
  test('have no product file that only tests import', () => {
    assert.deepEqual(unreached(sources, ['src/main.ts', 'src/source/apart/worker.ts']), [])
  })

  test('keep the order of the folders', () => {
    assert.ok(sources.length > 50, `only ${sources.length} files were found`)
    assert.ok(sources.flatMap(importsOf).length > sources.length, 'imports were found at all')
    assert.deepEqual(findBreaches(sources).map(show), [])
  })

  test('register and document every kind and every driver', () => {
    assert.deepEqual(findRegistryBreaches([...sources, ...pages]).map(show), [])
  })
})

test('each driver calls itself by the name of its folder', async () => {
  const names = globSync('*/driver.ts', { cwd: join(root, 'src/drivers') }).map(dirname)
  assert.ok(names.length >= 6, `only ${names.length} drivers were found`)
  for (const name of names) {
    const module: Record<string, unknown> = await import(`../src/drivers/${name}/driver.ts`)
    const named = Object.values(module).filter(
      (value) =>
        typeof value === 'object' && value !== null && 'connect' in value && 'name' in value && value.name === name,
    )
    assert.equal(named.length, 1, name)
  }
})

test('a product file that nothing but a test imports is found', () => {
  const made = [
    { path: 'src/main.ts', text: `import './a.ts'\nawait import('./b.ts')` },
    { path: 'src/a.ts', text: `export type { C } from './c.ts'` },
    { path: 'src/b.ts', text: '' },
    { path: 'src/c.ts', text: '' },
    { path: 'src/d.ts', text: '' },
    { path: 'src/d.test.ts', text: `import './d.ts'` },
    { path: 'src/testing/e.ts', text: '' },
    { path: 'sim/f.ts', text: '' },
  ]
  assert.deepEqual(unreached(made, ['src/main.ts']), ['src/d.ts'])
})

describe('each rule sees a made-up breach', () => {
  const caught: readonly [Breach['rule'], string, string][] = [
    // Arrows
    ['arrow', 'src/model/a.ts', `import { decide } from '../plan/decide.ts'`],
    ['arrow', 'src/lib/a.ts', `import type { Plan } from '../model/plan.ts'`],
    ['arrow', 'src/kinds/a.ts', `import { x } from '../source/read.ts'`],
    ['arrow', 'src/plan/a.ts', `import { KINDS } from '../kinds/registry.ts'`],
    ['arrow', 'src/source/a.ts', `import { createEngine } from '../engine/engine.ts'`],
    ['arrow', 'src/drivers/proxmox/a.ts', `import { plan } from '../../plan/plan.ts'`],
    ['arrow', 'src/store/a.ts', `import { plan } from '../plan/plan.ts'`],
    ['arrow', 'src/engine/a.ts', `import { KINDS } from '../kinds/registry.ts'`],
    ['arrow', 'src/engine/a.ts', `import { run } from '../cli/run.ts'`],
    ['arrow', 'sim/a.ts', `import type { Session } from '../src/drivers/port.ts'`],
    ['arrow', 'src/cli/a.ts', `import { x } from '../main.ts'`],
    ['arrow', 'src/cli/a.ts', `import { x } from '../main/engine.ts'`],
    ['arrow', 'src/newcomer/a.ts', `import { x } from '../model/key.ts'`],
    ['arrow', 'src/engine/a.ts', `import { x } from '../../scripts/checks.ts'`],
    ['arrow', 'src/engine/a.ts', `import { x } from '../store/testing/conformance.ts'`],
    ['arrow', 'src/engine/a.ts', `import { x } from './judge.test.ts'`],
    // Every way to write an import
    ['arrow', 'src/model/a.ts', `import '../plan/decide.ts'`],
    ['arrow', 'src/model/a.ts', `import * as all from "../plan/decide.ts"`],
    ['arrow', 'src/model/a.ts', `export { decide } from '../plan/decide.ts'`],
    ['arrow', 'src/model/a.ts', `export * from '../plan/decide.ts'`],
    ['arrow', 'src/model/a.ts', `export type { Plan } from '../plan/decide.ts'`],
    ['arrow', 'src/model/a.ts', `import type {\n  A,\n  B,\n} from '../plan/decide.ts'`],
    ['arrow', 'src/model/a.ts', `const lazily = await import('../plan/decide.ts')`],
    ['arrow', 'src/model/a.ts', 'type A = import("../plan/decide.ts").A'],
    ['arrow', 'src/model/a.ts', `const old = require('../plan/decide.ts')`],
    ['arrow', 'src/model/a.ts', 'const text = `${(await import("../plan/decide.ts")).name}`'],
    ['computed', 'src/engine/a.ts', `const module = await import(name)`],
    ['computed', 'src/engine/a.ts', 'const module = await import(`../drivers/${name}/driver.ts`)'],
    // Implementations
    ['implementation', 'src/engine/a.ts', `import { openSqliteStore } from '../store/sqlite.ts'`],
    ['implementation', 'src/engine/a.ts', `import { createMemoryStore } from '../store/memory.ts'`],
    ['implementation', 'src/engine/a.ts', `import { proxmoxDriver } from '../drivers/proxmox/driver.ts'`],
    ['implementation', 'src/cli/a.ts', `import { proxmoxDriver } from '../drivers/proxmox/driver.ts'`],
    ['implementation', 'src/cli/a.ts', `const { startSimulator } = await import('../../sim/serve.ts')`],
    ['implementation', 'src/plan/a.ts', `import { rules } from '../drivers/proxmox/rules.ts'`],
    ['implementation', 'sim/a.ts', `import { api } from '../src/drivers/proxmox/api.ts'`],
    // Drivers among themselves
    ['driver', 'src/drivers/libvirt/a.ts', `import { api } from '../proxmox/api.ts'`],
    ['driver', 'src/drivers/port.ts', `import { api } from './proxmox/api.ts'`],
    // Purity
    ...PURE.flatMap((folder): [Breach['rule'], string, string][] => [
      ['pure', `src/${folder}/a.ts`, `import { readFileSync } from 'node:fs'`],
      ['pure', `src/${folder}/a.ts`, `import { connect } from 'node:net'`],
      ['pure', `src/${folder}/a.ts`, `import http from 'node:http'`],
      ['pure', `src/${folder}/a.ts`, `import { spawn } from 'node:child_process'`],
      ['pure', `src/${folder}/a.ts`, `import { setTimeout as wait } from 'node:timers/promises'`],
      ['pure', `src/${folder}/a.ts`, `import { randomUUID } from 'node:crypto'`],
      ['pure', `src/${folder}/a.ts`, `import * as crypto from 'node:crypto'`],
      ['pure', `src/${folder}/a.ts`, 'const now = Date.now()'],
      ['pure', `src/${folder}/a.ts`, 'const now = new Date()'],
      ['pure', `src/${folder}/a.ts`, 'const now = +new Date'],
      ['pure', `src/${folder}/a.ts`, 'const chance = Math.random()'],
      ['pure', `src/${folder}/a.ts`, 'setTimeout(done, 10)'],
      ['pure', `src/${folder}/a.ts`, 'const home = process.env.HOME'],
      ['pure', `src/${folder}/a.ts`, 'const id = crypto.randomUUID()'],
      ['pure', `src/${folder}/a.ts`, "const answer = fetch('https://example.com')"],
      ['pure', `src/${folder}/a.ts`, 'const text = `at ${Date.now()}`'],
    ]),
    // Time and chance elsewhere
    ['time', 'src/engine/a.ts', 'const now = Date.now()'],
    ['time', 'src/engine/a.ts', 'const now = new Date()'],
    ['time', 'src/engine/a.ts', 'await new Promise((done) => setTimeout(done, 10))'],
    ['time', 'src/drivers/proxmox/a.ts', 'const jitter = Math.random()'],
    ['time', 'sim/world/a.ts', 'const started = performance.now()'],
    ['time', 'src/store/a.ts', `import { setTimeout } from 'node:timers/promises'`],
    ['time', 'src/engine/a.ts', `import { createHash, randomUUID } from 'node:crypto'`],
    // Printing
    ['print', 'src/engine/a.ts', "console.log('here')"],
    ['print', 'src/drivers/proxmox/a.ts', "process.stderr.write('here')"],
  ]
  for (const [rule, path, text] of caught) {
    test(`${rule}: ${path}: ${text.replace(/\s+/g, ' ')}`, () => {
      const found = findBreaches([{ path, text: `// first line\n${text}\n` }])
      assert.ok(
        found.some((breach) => breach.rule === rule && breach.path === path && breach.line >= 2),
        `found ${JSON.stringify(found)}`,
      )
    })
  }
})

describe('what the rules let pass', () => {
  const fine: readonly [string, string][] = [
    ['src/engine/a.ts', `import type { Store } from '../store/port.ts'`],
    ['src/engine/a.ts', `import { ObservationFailed } from '../drivers/port.ts'`],
    ['src/plan/a.ts', `import type { Kind } from '../kinds/kind.ts'`],
    ['src/main.ts', `const { openSqliteStore } = await import('./store/sqlite.ts')`],
    ['src/main/engine.ts', `const { openSqliteStore } = await import('../store/sqlite.ts')`],
    ['src/main.ts', 'const random = { next: () => Math.random() }'],
    ['src/engine/a.test.ts', `import { createMemoryStore } from '../store/memory.ts'`],
    ['src/drivers/proxmox/vm/a.ts', `import { api } from '../api.ts'\nimport type { Driver } from '../../port.ts'`],
    ['src/model/a.ts', `import { createHash } from 'node:crypto'`],
    ['src/kinds/a.ts', `import { isIP } from 'node:net'`],
    ['src/plan/a.ts', 'const shown = new Date(atMs).toISOString()'],
    ['src/plan/a.ts', '// Date.now() must not be used here'],
    ['src/plan/a.ts', `const hint = 'run: import x from "../engine/engine.ts"; Date.now()'`],
    ['src/plan/a.ts', 'const hint = `setTimeout ${name} Math.random()`'],
    ['src/plan/a.ts', "const pattern = /Date.now() ' process.env/"],
    ['src/plan/a.ts', 'const update = input.update(Date)'],
    ['src/plan/a.ts', "export const a = { import: 'x' }\nexport function b() { return '../engine/engine.ts' }"],
    ['src/cli/a.ts', "console.log('printed')"],
    ['src/lib/clock.ts', 'export const now = () => Date.now()'],
  ]
  for (const [path, text] of fine) {
    test(`${path}: ${text.replace(/\s+/g, ' ')}`, () => {
      assert.deepEqual(findBreaches([{ path, text }]), [])
    })
  }
})

describe('registry, folder and page', () => {
  const sound: readonly SourceFile[] = [
    { path: 'src/kinds/kind.ts', text: '' },
    { path: 'src/kinds/host.ts', text: '' },
    { path: 'src/kinds/host.test.ts', text: '' },
    { path: 'src/kinds/fields/text.ts', text: '' },
    { path: 'src/kinds/registry.ts', text: `import { host } from './host.ts'\nimport type { Kind } from './kind.ts'` },
    { path: 'docs/kinds/host.md', text: '' },
    { path: 'src/drivers/port.ts', text: '' },
    { path: 'src/drivers/proxmox/driver.ts', text: '' },
    { path: 'src/main.ts', text: `import('./drivers/proxmox/driver.ts')` },
    { path: 'docs/drivers/proxmox.md', text: '' },
    { path: 'src/source/foreign/formats/flux.ts', text: '' },
    { path: 'src/source/foreign/registry.ts', text: "import { flux } from './formats/flux.ts'" },
    { path: 'docs/import/flux.md', text: '' },
  ]
  const without = (path: string) => sound.filter((file) => file.path !== path)
  const empty = (path: string) => [...without(path), { path, text: '' }]
  const cases: readonly [string, readonly SourceFile[], readonly string[]][] = [
    ['sound', sound, []],
    ['a kind is not registered', empty('src/kinds/registry.ts'), ['the kind host is not registered']],
    [
      'a kind is registered twice over: no code',
      without('src/kinds/host.ts'),
      ['the kind host is registered and has no code', 'there is no kind host'],
    ],
    ['a kind has no page', without('docs/kinds/host.md'), ['the kind host has no page']],
    ['a page has no kind', [...sound, { path: 'docs/kinds/ghost.md', text: '' }], ['there is no kind ghost']],
    [
      'a driver is registered without code',
      without('src/drivers/proxmox/driver.ts'),
      ['the driver proxmox is registered and has no code', 'there is no driver proxmox'],
    ],
    ['a format has no page', without('docs/import/flux.md'), ['the format flux has no page']],
    ['a format is not registered', without('src/source/foreign/registry.ts'), ['the format flux is not registered']],
    ['a driver has no page', without('docs/drivers/proxmox.md'), ['the driver proxmox has no page']],
    ['a driver is not wired', empty('src/main.ts'), ['the driver proxmox is not registered']],
  ]
  for (const [what, files, expected] of cases) {
    test(what, () =>
      assert.deepEqual(
        findRegistryBreaches(files).map(({ message }) => message),
        expected,
      ),
    )
  }
})

describe('reading sources', () => {
  test('every import is found with its line, its target and its names', () => {
    const text = [
      `import a, { type B, c as d } from './near.ts'`,
      `/* import { no } from './comment.ts' */ import type { E } from '../far/e.ts'`,
      `export * as f from 'zod'`,
      `const g = import('node:fs')`,
    ].join('\n')
    assert.deepEqual(
      importsOf({ path: 'src/plan/x.ts', text }).map(({ line, target, names }) => [line, target, names]),
      [
        [1, 'src/plan/near.ts', ['a', 'B', 'c']],
        [2, 'src/far/e.ts', ['E']],
        [3, 'zod', ['*']],
        [4, 'node:fs', ['*']],
      ],
    )
  })

  test('code is told from comments, texts, templates and patterns', () => {
    const code = (text: string) => codeOf(text).text.replace(/\s+/g, ' ').trim()
    assert.equal(code(`a // b 'c'\nd`), 'a d')
    assert.equal(code(`a /* b\n' */ d`), 'a d')
    assert.equal(code(`'it\\'s // no comment' + b`), '"0" + b')
    assert.equal(code('`x ${a + `y ${{ b: 1 }.b} z`} w` + c'), '"0"a + "1"{ b: 1 }.b"2""3" + c')
    assert.equal(code(`x = /['"/[\\]/]/g.test(y) / 2`), 'x = g.test(y) / 2')
    assert.equal(code('a / b / c'), 'a / b / c')
  })

  test('lines stay where they are', () => {
    const text = 'a\n/* 1\n2 */\n`x\n${b}\ny`\nDate.now()'
    assert.equal(codeOf(text).text.split('\n').length, text.split('\n').length)
  })
})

test('the table of folders has every folder that is there, and no other', () => {
  const there = new Set(
    sources.flatMap(({ path }) => /^(?:src\/([^/]+)|(sim))\//.exec(path)?.slice(1).filter(Boolean) ?? []),
  )
  // main puts the implementations together: nothing binds it.
  there.delete('main')
  assert.deepEqual(
    [...there].filter((folder) => MAY_IMPORT[folder] === undefined),
    [],
  )
  assert.deepEqual(
    Object.keys(MAY_IMPORT).filter((folder) => !there.has(folder)),
    [],
  )
})

function show({ path, line, rule, message }: Breach): string {
  return `${path}:${line} [${rule}] ${message}`
}
