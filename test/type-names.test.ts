import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isTestCode } from './layers-rules.ts'

const root = join(import.meta.dirname, '..')
const TYPE = /^(?:export )?(?:declare )?(?:abstract )?(?:type|interface|class) (\w+)/gm

/** Names of types that more than one file defines, each with those files. */
function definedTwice(files: readonly { readonly path: string; readonly text: string }[]): ReadonlyMap<string, string> {
  const homes = new Map<string, Set<string>>()
  for (const { path, text } of files)
    for (const [, name = ''] of text.matchAll(TYPE)) homes.set(name, (homes.get(name) ?? new Set()).add(path))
  return new Map([...homes].filter(([, at]) => at.size > 1).map(([name, at]) => [name, [...at].sort().join(', ')]))
}

function shown(twice: ReadonlyMap<string, string>): string {
  return `${twice.size}: ${[...twice].map(([name, at]) => `${name} (${at})`).join('; ')}`
}

function read(pattern: string): readonly { readonly path: string; readonly text: string }[] {
  return globSync(pattern, { cwd: root })
    .filter((path) => !isTestCode(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

test('a name of a type means one thing in src/', () => {
  assert.equal(shown(definedTwice(read('src/**/*.ts'))), '0: ')
})

/** Names with two meanings in the product and the simulator together. This figure only ever falls. */
const MOST_SHARED = 54

test('the simulator and the product share fewer and fewer names for different things', () => {
  const shared = definedTwice([...read('src/**/*.ts'), ...read('sim/**/*.ts')])
  assert.ok(shared.size <= MOST_SHARED, shown(shared))
})

/** One word for one idea. Each row has the word that the code uses instead. */
const RETIRED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/Orders|(?:Cluster|Power|Install|Start|Restore)Order/, 'Request; order is a sequence'],
  [/Sight(?:ing|ed|s)?(?![a-z])|Looks?(?![a-z])|Look(?:ed|ing|er)|Seen/, 'Observed'],
]

function retired(files: readonly { readonly path: string; readonly text: string }[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(TYPE)].flatMap(([, name = '']) =>
      RETIRED.flatMap(([pattern, instead]) => (pattern.test(name) ? [`${name} in ${path}: say ${instead}`] : [])),
    ),
  )
}

test('no type of the product has a name that was given up', () => {
  assert.deepEqual(retired(read('src/**/*.ts')), [])
})

test('a name that was given up is found, one that only resembles it is not', () => {
  const found = (name: string) => retired([{ path: 'a.ts', text: `export interface ${name} {}` }]).length > 0
  for (const name of [
    'Sighting',
    'HostSighting',
    'ClusterLook',
    'CloseLooks',
    'SeenHost',
    'LookedAt',
    'Looking',
    'PowerOrders',
  ])
    assert.ok(found(name), name)
  for (const name of ['Lookup', 'LookupFunction', 'Insight', 'ObservedHost', 'ObjectOrder'])
    assert.ok(!found(name), name)
})

test('two definitions of a name are found, a mention is not', () => {
  const file = (path: string, text: string) => ({ path, text })
  const found = definedTwice([
    file('a.ts', 'export interface Way {}\ntype Own = 1'),
    file('b.ts', 'type Way = string\nconst x: Own = 1\n// type Own'),
  ])
  assert.deepEqual([...found], [['Way', 'a.ts, b.ts']])
})
