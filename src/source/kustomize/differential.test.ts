import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isFields, objectsOf } from '../manifest.ts'
import { buildKustomization } from './build.ts'

/**
 * Our directories, and the recorded output of the real kustomize (the file says which version). To renew a case, build
 * its files with `kubectl kustomize`.
 */
interface Vectors {
  readonly base: Readonly<Record<string, string>>
  readonly cases: readonly {
    readonly name: string
    readonly files: Readonly<Record<string, string>>
    readonly objects: readonly Readonly<Record<string, unknown>>[]
  }[]
}

const vectors = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8')) as Vectors

for (const { name, files, objects } of vectors.cases) {
  test(`kustomize builds the same: ${name}`, () => {
    const all = Object.entries({ ...vectors.base, ...files })
    const texts = new Map(all.filter(([file]) => /\.ya?ml$/.test(file)))
    const bytes = new Map(all.map(([file, text]) => [file, Buffer.from(text)]))
    const built = buildKustomization({ texts, bytes })
    assert.deepEqual(built.findings, [])
    const made = built.documents.flatMap(({ read }) => objectsOf(read.value).map(({ value }) => value))
    assert.deepEqual(byName(made), byName(objects))
  })
}

/** Sorts objects and converts them to plain JSON: kustomize's order has no meaning. */
function byName(objects: readonly Readonly<Record<string, unknown>>[]): unknown {
  const named = objects.map((object) => {
    const metadata = isFields(object.metadata) ? object.metadata : {}
    return [`${String(object.kind)} ${String(metadata.namespace)} ${String(metadata.name)}`, object] as const
  })
  return JSON.parse(JSON.stringify(named.sort(([a], [b]) => (a < b ? -1 : 1))))
}
