import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { build } from '../../scripts/build.ts'

/** Libraries that few commands need lie in files of their own in the package. They are found, and not before. */
const ROOT = dirname(dirname(import.meta.dirname))
const place = mkdtempSync(join(tmpdir(), 'croft-libraries-'))
const LIBRARIES = ['library-yaml.cjs', 'library-cel.cjs', 'library-re2.cjs']
/** All schemas are 2 MB of text. */
const MOST = 16_000_000

before(async () => {
  await build(join(place, 'dist'), ROOT)
  for (const part of ['bin', 'package.json']) cpSync(join(ROOT, part), join(place, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'))
})
after(() => rmSync(place, { recursive: true, force: true }))

function croft(...args: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: place, XDG_CACHE_HOME: '', NODE_DEBUG: 'module' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(place, 'bin', 'croft'), ...args], {
    encoding: 'utf8',
    env,
    maxBuffer: MOST,
  })
  return { status, stdout, stderr, loaded: LIBRARIES.filter((name) => stderr.includes(name)) }
}

function estate(name: string, text: string): string {
  const directory = join(place, name)
  mkdirSync(directory)
  writeFileSync(join(directory, 'estate.yaml'), text)
  return directory
}

test('a plain manifest needs no library', () => {
  const directory = estate(
    'plain',
    'apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata:\n  name: n\nspec:\n  mtu: 1400\n',
  )
  const { status, loaded } = croft('validate', directory)
  assert.equal(status, 0)
  assert.deepEqual(loaded, [])
})

test('the schemas of the package are those of the sources', () => {
  // Not bin/croft: in a clone that may be what was built of it.
  const ours = spawnSync(process.execPath, [join(ROOT, 'bin', 'run'), join(ROOT, 'src', 'main.ts'), 'schema'], {
    encoding: 'utf8',
    maxBuffer: MOST,
  })
  const { status, stdout } = croft('schema')
  assert.equal(status, 0)
  assert.ok(ours.stdout.length > 100_000 && stdout === ours.stdout)
})

test('YAML that the fast reader does not know is read by the library of the package', () => {
  const directory = estate(
    'full',
    'apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata: {name: !!str n}\nspec:\n  mtu: 1400\n',
  )
  const { status, loaded } = croft('validate', directory)
  assert.equal(status, 0)
  assert.deepEqual(loaded, ['library-yaml.cjs'])
})

test('an expression is judged by the library of the package', () => {
  const addon = (expression: string) => `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata:
  name: a
spec:
  cluster: c
  objects: []
  ready:
    - kind: Pod
      name: p
      expression: ${expression}
`
  const bad = croft('validate', estate('bad', addon('object.x ==')))
  assert.equal(bad.status, 1)
  assert.match(bad.stderr, /bad-expression/)
  const pattern = croft('validate', estate('good', addon("object.x.matches('a+')")))
  assert.doesNotMatch(pattern.stderr, /bad-expression/)
  assert.ok(pattern.loaded.includes('library-cel.cjs'))
})

test('the controller of the package reads its source, in a thread that begins with a file of its own', async () => {
  const directory = estate(
    'followed',
    'apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata:\n  name: n\nspec: {}\n',
  )
  const program = join(place, 'bin', 'croft')
  const words = ['run', directory, '--listen', 'off', '--state', join(place, 'followed.db')]
  const env = { PATH: process.env.PATH, HOME: place, XDG_CACHE_HOME: '' }
  const running = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const over = new Promise((resolve) => running.on('exit', resolve))
  try {
    const said: string[] = []
    for (const stream of [running.stdout, running.stderr])
      createInterface(stream).on('line', (line) => {
        said.push(line)
        if (/Revision: |SourceTrouble/.test(line)) running.kill('SIGTERM')
      })
    await over
    assert.match(said.join('\n'), /Revision: /)
    assert.doesNotMatch(said.join('\n'), /SourceTrouble/)
  } finally {
    running.kill('SIGKILL')
  }
})
