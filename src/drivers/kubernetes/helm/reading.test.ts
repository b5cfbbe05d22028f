import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../../kubernetes/objects.ts'
import { RELEASE } from '../../../model/kube-object.ts'
import type { HelmReleases } from '../../release-port.ts'
import { lookOf } from '../marks.ts'
import { rules } from '../rules.ts'
import { resource, wanted } from '../testing/fixture.ts'
import { releaseLabels } from './marks.ts'
import { readHelmReleases } from './reading.ts'

const RELEASED = wanted({ ...RELEASE, metadata: { name: 'till', namespace: 'shop' }, spec: { chart: 'till' } })
const VOLUME = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'drawer' } }

/** The single record of a release in an otherwise empty cluster. */
function record(): Foreign {
  const said = { version: 3, info: { status: 'deployed' }, chart: { metadata: { name: 'till' } }, manifest: 'any' }
  const packed = Buffer.from(JSON.stringify(said)).toString('base64')
  const labels = { ...releaseLabels(resource(RELEASED), RELEASED), name: 'till', version: '3' }
  return {
    metadata: { name: 'sh.helm.release.v1.till.v3', namespace: 'shop', uid: 'u-3', resourceVersion: '7', labels },
    data: { release: Buffer.from(packed).toString('base64') },
  }
}

/** Returns the observation of the release once no manifest declares it. */
async function seenWith(read?: HelmReleases['read']) {
  const answer = (value: unknown) => Promise.resolve({ is: 'answer', value })
  const client = {
    list: (path: string) => answer(path.endsWith('/secrets') ? [record()] : []),
    get: (path: string) => (path.includes('/secrets/') ? answer(record()) : answer(undefined)),
  }
  const api = {
    answered: (asked: { readonly value: unknown }) => asked.value,
    kindOf: async () => ({ plural: 'persistentvolumeclaims', namespaced: true }),
  }
  const given = {
    api,
    deps: { clock: { now: () => 1 }, ...(read === undefined ? {} : { helm: { read } }) },
    connection: { name: 'cluster/homelab' },
    wanted: [],
    manifests: new Map(),
  }
  const [release] = await readHelmReleases(client as never, given as never, new AbortController().signal)
  assert.ok(release)
  return release
}

const UNREAD: Readonly<Record<string, HelmReleases['read'] | undefined>> = {
  'a finding in it': async () => ({ problem: 'x' }),
  'an object of which nobody can say which it is': async () => ({ objects: [VOLUME, { kind: 'List', items: [7] }] }),
  'nothing that reads it': undefined,
}

for (const [name, read] of Object.entries(UNREAD))
  test(`a manifest that cannot be read does not count as one without data: ${name}`, async () => {
    const release = await seenWith(read)
    assert.equal(lookOf(release).release?.unread, true)
    assert.equal(release.brings, undefined)
    assert.match(rules.undeletable(release)?.message ?? '', /what would go with it is not known/)
  })

test('a manifest that is read says what goes with the release', async () => {
  const release = await seenWith(async () => ({ objects: [VOLUME] }))
  assert.equal(lookOf(release).release?.unread, undefined)
  assert.deepEqual(release.brings, ['PersistentVolumeClaim/shop/drawer'])
  assert.match(rules.undeletable(release)?.message ?? '', /holds data of others: PersistentVolumeClaim\/shop\/drawer/)
  const harmless = await seenWith(async () => ({ objects: [] }))
  assert.equal(rules.undeletable(harmless), undefined)
})
