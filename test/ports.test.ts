import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = dirname(import.meta.dirname)

/**
 * Optional methods of interfaces. An ability that some implementations lack is a separate port, which is there as a whole or not at
 * all. What a driver is given (`…Deps`) is another matter: a test gives it less.
 */
function optionalMethods(text: string): readonly string[] {
  return [...text.matchAll(/^export interface (\w+)[^\n]*\{\n([\s\S]*?)^\}/gm)].flatMap(([, name = '', body = '']) =>
    name.endsWith('Deps')
      ? []
      : [...body.matchAll(/^ {2}(?:readonly )?(\w+)\?(?:\(|<|: \()/gm)].map(([, method]) => `${name}.${method}`),
  )
}

test('no port has an optional method', () => {
  const files = globSync(['src/**/port.ts', 'src/**/*-port.ts'], { cwd: root })
  assert.ok(files.length >= 6, `only ${files.length} ports were found`)
  assert.deepEqual(
    files.flatMap((file) => optionalMethods(readFileSync(join(root, file), 'utf8'))),
    [],
  )
})

test('an optional method is found, an optional port is none', () => {
  const port = (line: string) => optionalMethods(`export interface Session {\n  survey(): void\n${line}\n}\n`)
  assert.deepEqual(port('  load?(host: string): void'), ['Session.load'])
  assert.deepEqual(port('  readonly load?: (host: string) => void'), ['Session.load'])
  assert.deepEqual(port('  readonly hosts?: HostReads'), [])
})
