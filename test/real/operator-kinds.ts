import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Kind } from '../../src/kinds/kind.ts'
import { KINDS } from '../../src/kinds/registry.ts'
import { at, type Foreign, nameOf } from '../../src/kubernetes/objects.ts'
import type { OperatorGround } from './operator-ground.ts'

const PAGES = join(import.meta.dirname, '../../docs/kinds')

export const OWN_KINDS: readonly Kind[] = KINDS.filter(({ apiVersion }) => apiVersion.startsWith('croft.dev/'))

/** Every object of croft's kinds in the examples of the documentation. */
function examples(): readonly Foreign[] {
  return readdirSync(PAGES).flatMap((page) =>
    [...readFileSync(join(PAGES, page), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
      parseAllDocuments(text)
        .map((document) => document.toJS() as Foreign)
        .filter(({ apiVersion }) => String(apiVersion).startsWith('croft.dev/')),
    ),
  )
}

/** Creates the documented examples where no operator looks, then changes each; answers the kinds that were seen. */
export async function acceptExamples({ client }: OperatorGround): Promise<ReadonlySet<string>> {
  const namespace = 'examples'
  await client.create('/api/v1/namespaces', { metadata: { name: namespace } }, 'make it')
  const seen = new Set<string>()
  for (const [index, example] of examples().entries()) {
    const kind = OWN_KINDS.find((one) => one.kind === example.kind)
    assert.ok(kind, `${String(example.kind)} is no kind`)
    const name = `${nameOf(at(example, 'metadata', 'name'))}-${index}`
    const path = `/apis/${kind.apiVersion}/namespaces/${namespace}/${kind.plural}`
    const metadata = { ...(example.metadata as Foreign), name, namespace }
    // Strict: what the definition does not know would be dropped without a word otherwise.
    const made = await client.create(`${path}?fieldValidation=Strict`, { ...example, metadata }, `make ${kind.kind}`)
    assert.equal(made.is, 'answer', `${kind.kind} ${name}: ${JSON.stringify(made)}`)
    if (made.is !== 'answer') continue
    assert.deepEqual(made.value.spec, example.spec, `${kind.kind} stays as it was written`)
    const patched = await client.merge(`${path}/${name}`, { metadata: { labels: { seen: 'yes' } } }, 'change it')
    assert.equal(patched.is, 'answer', JSON.stringify(patched))
    const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'Tried' }], observedGeneration: 1 }
    const said = await client.merge(`${path}/${name}/status`, { status }, 'say so')
    assert.equal(said.is, 'answer', JSON.stringify(said))
    seen.add(kind.kind)
  }
  return seen
}
