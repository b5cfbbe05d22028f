import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom, filesOf } from '../../test/simulation/manifests.ts'

const KEY = 'EnvironmentVM/b1'

/** A machine that names a connection, beside the connection `default`. */
function naming(reference: string, more: Readonly<Record<string, string>> = {}) {
  const files = { ...filesOf([{ name: 'b1', host: 'fun-bedbug' }]), ...more }
  const text = (files['machines/b1.yaml'] ?? '').replace('spec:\n', `spec:\n  ${reference}\n`)
  const estate = estateFrom({ ...files, 'machines/b1.yaml': text })
  const resource = estate.resources.find(({ key }) => key === KEY)
  return { connection: resource?.connection, held: estate.unreadable.includes(KEY), estate }
}

const siteB = (endpoint: string) => `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: site-b}
spec: {${endpoint}, token: {env: OTHER}}
`
const provider = (annotation: string) => `apiVersion: proxmoxbpg.crossplane.io/v1beta1
kind: ProviderConfig
metadata: {name: lab${annotation}}
spec: {credentials: {source: None}}
`

test('a machine whose connection is named and missing is held where it is, also beside the only other connection', () => {
  const { connection, held, estate } = naming('providerConfigRef: {name: site-b}')
  assert.equal(connection, undefined)
  assert.ok(held)
  assert.match(estate.problems.find(({ code }) => code === 'no-connection')?.message ?? '', /site-b.*default/)
})

test('a machine whose connection could not be read is held, whatever else is declared', () => {
  const broken = naming('providerConfigRef: {name: site-b}', { 'b.yaml': siteB('endpont: https://10.0.0.2:8006') })
  assert.deepEqual([broken.connection, broken.held], [undefined, true])
  const unnamed = naming('managementPolicies: ["*"]', {
    'connection.yaml': siteB('endpoint: "https://10.0.0.1:8006"').replace('site-b', 'site-a'),
    'b.yaml': siteB('endpont: https://10.0.0.2:8006'),
  })
  assert.deepEqual([unnamed.connection, unnamed.held], [undefined, true], 'the broken one may be the one that is meant')
})

test('a ProviderConfig that points to a missing connection is an answer too; one that points nowhere leaves the only one', () => {
  const lost = naming('providerConfigRef: {name: lab}', {
    'p.yaml': provider(', annotations: {croft.dev/connection: site-b}'),
  })
  assert.deepEqual([lost.connection, lost.held], [undefined, true])
  assert.equal(naming('providerConfigRef: {name: lab}', { 'p.yaml': provider('') }).connection, 'default')
  assert.equal(naming('providerConfigRef: {name: default}').connection, 'default')
})
