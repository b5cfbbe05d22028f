import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/controller/config.ts'
import { judgeDocument } from '../../src/source/judge.ts'
import { readDocuments } from '../../src/source/manifest.ts'

const ROOT = join(import.meta.dirname, '../..')

interface Block {
  readonly page: string
  readonly line: number
  readonly text: string
}

/** Blocks of one language, without what indents them in a list. */
function blocksOf(language: string): readonly Block[] {
  const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'deploy/**/*.md'], { cwd: ROOT })
  return pages.flatMap((page) => {
    const whole = readFileSync(join(ROOT, page), 'utf8')
    return [...whole.matchAll(/^( *)```(\w+)[^\n]*\n([\s\S]*?)^ *```$/gm)].flatMap((found) => {
      const [, indent = '', name, text = ''] = found
      if (name !== language) return []
      const line = whole.slice(0, found.index).split('\n').length + 1
      return [{ page, line, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }]
    })
  })
}

/** What a reader who copies the block is told by `croft validate`; references to other files are not looked up. */
function wrongIn({ page, line, text }: Block): readonly string[] {
  return readDocuments(text).flatMap((document) =>
    judgeDocument(document).flatMap(({ outcome, problems, findings }) => {
      // What names no kind of croft is left alone, but YAML it must be.
      if (outcome === 'declared' || (outcome === 'ignored' && findings.length === 0)) return []
      const said = [...findings.map(({ message }) => message), ...problems.map(({ message }) => message)]
      return [`${page}:${line}: ${said.join('; ')}`]
    }),
  )
}

test('every block of YAML parses, and every object of croft in one is valid', () => {
  const blocks = blocksOf('yaml')
  assert.ok(blocks.length > 90, `only ${blocks.length} blocks were found`)
  const declared = blocks.flatMap(({ text }) =>
    readDocuments(text).flatMap((document) => judgeDocument(document).filter(({ outcome }) => outcome === 'declared')),
  )
  assert.ok(declared.length > 60, `only ${declared.length} objects were found`)
  assert.deepEqual(blocks.flatMap(wrongIn), [])
})

const OF_RUN = ['sources', 'publicUrl', 'oidc', 'status', 'reading', 'trustedProxies', 'listen', 'secondFactor']

test('every block with the configuration of croft run is one that croft run takes', () => {
  const blocks = blocksOf('yaml').flatMap(({ page, line, text }) => {
    const [value] = readDocuments(text).map((document) => document.value)
    if (typeof value !== 'object' || value === null || !OF_RUN.some((name) => name in value)) return []
    return [{ where: `${page}:${line}`, value }]
  })
  assert.ok(blocks.length > 4, `only ${blocks.length} blocks were found`)
  const somewhere = { sources: [{ name: 'x', directory: '/x' }] }
  const wrong = blocks.flatMap(({ where, value }) => {
    try {
      readConfig({ ...somewhere, ...value }, {}, {})
      return []
    } catch (error) {
      return [`${where}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })
  assert.deepEqual(wrong, [])
})

test('a block that is wrong is noticed', () => {
  const block = (text: string) => wrongIn({ page: 'x.md', line: 1, text })
  assert.match(block('kind: [a\n').join(), /x\.md:1: /)
  const clas = 'apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: {name: a}\nspec: {clas: server}\n'
  assert.match(block(clas).join(), /"clas" is not a field of spec/)
})

test('every block of JSON parses', () => {
  const blocks = blocksOf('json')
  assert.ok(blocks.length > 0)
  for (const { page, line, text } of blocks) assert.doesNotThrow(() => JSON.parse(text), `${page}:${line}`)
})
