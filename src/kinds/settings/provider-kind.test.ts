import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerKind } from './provider-kind.ts'
import { PROVIDER_KINDS } from './provider-table.ts'

test('a field of the provider that the declared type does not have is refused at its place', () => {
  const provider = PROVIDER_KINDS.find(({ definition }) => definition === 'metric-server')
  assert.ok(provider !== undefined)
  const kind = providerKind(provider, () => [])
  const problemsOf = (forProvider: Readonly<Record<string, unknown>>) => {
    const spec = { forProvider: { name: 'm', port: 8086, server: 'a', ...forProvider } }
    const metadata = { name: 'm', annotations: {}, labels: {} }
    const manifest = { apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec }
    return (kind.check?.(spec as never, manifest as never) ?? []).map(({ path, message }) => [path.join('.'), message])
  }
  assert.deepEqual(problemsOf({ type: 'influxdb', influxBucket: 'b' }), [])
  assert.deepEqual(problemsOf({ type: 'graphite', influxBucket: 'b', graphitePath: 'p' }), [
    ['spec.forProvider.influxBucket', 'graphite has no influxBucket: it is a field of influxdb'],
  ])
})
