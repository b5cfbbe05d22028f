import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Foreign } from '../../../kubernetes/objects.ts'
import type { KubeObject } from '../../../model/kube-object.ts'
import { holdingObjects, releaseDrift } from './drift.ts'
import { newestRecords, readRecord } from './record.ts'
import { over, secretChanges, withoutSecret } from './values.ts'

const DECLARED: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'till', namespace: 'shop' },
  spec: { replicas: 2, cpu: '1000m' },
}

/** A live object with the managers of its fields. */
function live(spec: object, managers: Readonly<Record<string, readonly string[]>>): Foreign {
  const managedFields = Object.entries(managers).map(([manager, fields]) => ({
    manager,
    operation: 'Update',
    fieldsV1: { 'f:spec': Object.fromEntries(fields.map((field) => [`f:${field}`, {}])) },
  }))
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'till', namespace: 'shop', managedFields },
    spec,
  }
}

const driftOf = (there: Foreign | undefined, declared = DECLARED, serverSide = false) =>
  releaseDrift([{ declared, live: there }], { serverSide })
const shown = (there: Foreign | undefined) => driftOf(there).map(({ path, from, to }) => [path, from, to])

test('a field that the server wrote in another form is still Helm’s; one that somebody took is drift', () => {
  assert.deepEqual(shown(live({ replicas: 2, cpu: '1' }, { helm: ['replicas', 'cpu'] })), [])
  assert.deepEqual(
    shown(live({ replicas: 5, cpu: '1' }, { 'terraform-provider-helm_v3': ['cpu'], kubectl: ['replicas'] })),
    [['Deployment.apps/shop/till spec.replicas', 5, 2]],
  )
  assert.deepEqual(
    shown(live({ replicas: 2, cpu: '1' }, { helm: ['cpu'], kubectl: ['replicas'] })),
    [],
    'taken, and the same',
  )
  assert.deepEqual(shown(undefined), [['Deployment.apps/shop/till', 'missing', 'there']])
})

test('a custom resource is told and not mended, unless Helm applies on the server', () => {
  const declared = { ...DECLARED, apiVersion: 'example.org/v1', kind: 'Till' }
  const there = {
    ...live({ replicas: 5, cpu: '1' }, { helm: ['cpu'], kubectl: ['replicas'] }),
    apiVersion: 'example.org/v1',
    kind: 'Till',
  }
  assert.match(driftOf(there, declared)[0]?.blocked?.message ?? '', /does not put back a custom resource/)
  assert.equal(driftOf(there, declared, true)[0]?.blocked, undefined)
})

test('values of a Secret are compared as the server keeps them, and shown to nobody', () => {
  const declared = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' }, stringData: { a: 'x' } }
  const there = (data: object, fields: object) => ({
    ...declared,
    stringData: undefined,
    data,
    metadata: { ...declared.metadata, managedFields: [{ manager: 'kubectl', operation: 'Update', fieldsV1: fields }] },
  })
  assert.deepEqual(driftOf(there({ a: 'eA==' }, {}), declared), [])
  assert.doesNotMatch(JSON.stringify(driftOf(there({ a: 'eQ==' }, { 'f:data': { 'f:a': {} } }), declared)), /eQ==|eA==/)
  assert.equal(driftOf(there({ a: 'eQ==' }, { 'f:data': { 'f:a': {} } }), declared).length, 1)
})

test('what holds data is named, what Helm keeps is not', () => {
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a', namespace: 'n' } }
  const kept = { ...claim, metadata: { name: 'b', namespace: 'n', annotations: { 'helm.sh/resource-policy': 'keep' } } }
  assert.deepEqual(holdingObjects([claim, kept, DECLARED]), ['PersistentVolumeClaim/n/a'])
})

test('a record of Helm is read; what is none is none', () => {
  const release = {
    name: 'till',
    version: 7,
    info: { status: 'pending-upgrade', last_deployed: '2026-01-02T03:04:05.678Z', description: 'Preparing upgrade' },
    chart: { metadata: { name: 'till', version: '1.0.0' } },
    config: { replicas: 2 },
    manifest: `# ${'long '.repeat(2_000)}`,
  }
  const packed = (bytes: Buffer) => Buffer.from(bytes.toString('base64')).toString('base64')
  for (const bytes of [gzipSync(JSON.stringify(release)), Buffer.from(JSON.stringify(release))]) {
    const read = readRecord({ data: { release: packed(bytes) } })
    assert.deepEqual(
      [read?.revision, read?.status, read?.chart.version, read?.values],
      [7, 'pending-upgrade', '1.0.0', { replicas: 2 }],
    )
    assert.equal(read?.sinceMs, Date.UTC(2026, 0, 2, 3, 4, 5, 678))
    assert.equal(read?.manifest.length, release.manifest.length)
  }
  for (const wrong of [{}, { data: {} }, { data: { release: 'eA==' } }, { data: { release: packed(gzipSync('no')) } }])
    assert.equal(readRecord(wrong), undefined)
})

test('the newest revision is the one with the highest number, in each namespace', () => {
  const one = (namespace: string, version: string) => ({
    metadata: { name: `${namespace}-${version}`, namespace, labels: { name: 'till', version } },
  })
  const names = newestRecords([one('a', '9'), one('a', '10'), one('b', '2')]).map(
    (found) => (found.metadata as { name: string }).name,
  )
  assert.deepEqual(names, ['a-10', 'b-2'])
})

test('secret values are laid over the others, compared by path and taken out of what is shown', () => {
  const secret = { db: { password: 'p' }, list: ['x'] }
  assert.deepEqual(over({ a: 1, db: { user: 'u' } }, secret), { a: 1, db: { user: 'u', password: 'p' }, list: ['x'] })
  assert.deepEqual(withoutSecret({ a: 1, db: { user: 'u', password: 'old' }, list: ['y'] }, secret), {
    a: 1,
    db: { user: 'u' },
  })
  const live = { a: 1, db: { user: 'u', password: 'old' }, list: ['x'] }
  assert.deepEqual(secretChanges(live, over({ a: 2, db: { user: 'u' } }, secret), secret), ['spec.values.db.password'])
})
