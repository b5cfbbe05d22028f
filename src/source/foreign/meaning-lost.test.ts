import assert from 'node:assert/strict'
import { test } from 'node:test'
import { application } from './formats/argocd.ts'
import { meaningLost } from './meaning-lost.ts'

test('a field whose meaning is lost is named where it says something', () => {
  const table = [
    ['a.b', 'x'],
    ['c', 'y', (value: unknown) => value === false],
  ] as const
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{ a: { b: 'v' } }, ['a.b: x']],
    [{ a: { b: [] } }, []],
    [{ a: { b: {} } }, []],
    [{ a: { b: false } }, []],
    [{ a: 'text' }, []],
    [{ c: false }, ['c: y']],
    [{ c: true }, []],
    [{}, []],
  ]
  for (const [spec, said] of cases) assert.deepEqual(meaningLost(spec as never, table), said, JSON.stringify(spec))
})

test('an Application says what of it no Addon has', () => {
  const spec = {
    source: { repoURL: 'https://charts.example.org', chart: 'web', targetRevision: '1.0.0' },
    destination: { namespace: 'web' },
  }
  const withoutOf = (more: object) => {
    const from = application('web', { ...spec, ...more } as never)
    return 'addons' in from ? (from.without ?? []) : undefined
  }
  assert.deepEqual(withoutOf({}), [])
  assert.deepEqual(withoutOf({ syncPolicy: { automated: { selfHeal: true } } }), [])
  const said = withoutOf({
    ignoreDifferences: [{ kind: 'Deployment', jsonPointers: ['/spec/replicas'] }],
    syncPolicy: { automated: { selfHeal: false }, managedNamespaceMetadata: { labels: { a: 'b' } } },
  })
  assert.deepEqual(
    said?.map((one) => one.split(':')[0]),
    ['ignoreDifferences', 'syncPolicy.managedNamespaceMetadata', 'syncPolicy.automated.selfHeal'],
  )
})
