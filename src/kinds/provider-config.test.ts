import assert from 'node:assert/strict'
import { test } from 'node:test'
import { link } from '../plan/link.ts'
import { readText } from '../source/testing/fixture.ts'
import { findKind } from './registry.ts'

const config = (
  name: string,
  more = '',
  credentials = 'source: Secret, secretRef: {name: creds, namespace: crossplane-system, key: credentials}',
) =>
  `apiVersion: proxmoxbpg.crossplane.io/v1beta1\nkind: ProviderConfig\nmetadata: {name: ${name}${more}}\nspec: {credentials: {${credentials}}}\n---\n`
const vm = (ref?: string) =>
  `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1\nkind: EnvironmentVM\nmetadata: {name: web}\nspec: {${ref === undefined ? '' : `providerConfigRef: {name: ${ref}}, `}forProvider: {nodeName: pve1, vmId: 100}}\n---\n`
const PROXMOX = `apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: home}\nspec: {endpoint: "https://127.0.0.1:8006", token: {env: T}}\n---\n`

const linked = (text: string) => link(readText(text), { findKind })
const errors = (text: string) =>
  linked(text)
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ message }) => message)

test('a ProviderConfig is the connection of what refers to it, and shows where its address is', () => {
  const { connections, resources, problems } = linked(config('default') + vm())
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  assert.deepEqual(
    connections.map(({ name, driver, endpoint, token, credentials, estate }) => ({
      name,
      driver,
      endpoint,
      token,
      credentials,
      estate,
    })),
    [
      {
        name: 'default',
        driver: 'proxmox',
        endpoint: 'secret:crossplane-system/creds',
        token: undefined,
        credentials: { secretRef: { name: 'creds', key: 'credentials', namespace: 'crossplane-system' } },
        estate: 'default',
      },
    ],
  )
  assert.equal(resources[0]?.connection, 'default')
})

test('credentials come from the environment and from files too; without any there is no connection', () => {
  const of = (credentials: string) => linked(config('a', '', credentials)).connections[0]?.credentials
  assert.deepEqual(of('source: Environment, env: {name: PVE}'), { env: 'PVE' })
  assert.deepEqual(of('source: Filesystem, fs: {path: /etc/pve.json}'), { file: '/etc/pve.json' })
  assert.equal(of('source: None'), undefined)
  assert.equal(of('source: InjectedIdentity'), undefined)
})

test('declared Proxmox objects come first, and an annotation that names a connection does', () => {
  assert.deepEqual(
    linked(PROXMOX + config('default') + vm('default')).connections.map(({ name }) => name),
    ['home'],
  )
  assert.deepEqual(linked(config('a', ', annotations: {croft.dev/connection: b}')).connections, [])
})

test('of several ProviderConfigs the one is meant that a resource names, or the one called default', () => {
  const both = config('default') + config('lab')
  assert.equal(linked(both + vm()).resources[0]?.connection, 'default')
  assert.equal(linked(both + vm('lab')).resources[0]?.connection, 'lab')
  assert.match(
    errors(both + vm('far')).join('\n'),
    /no Proxmox connection serves providerConfigRef far; there are default, lab/,
  )
})

test('two ProviderConfigs of one name in two namespaces are refused', () => {
  const one = (namespace: string) =>
    config('default', `, namespace: ${namespace}`).replace('proxmoxbpg.crossplane.io', 'proxmoxbpg.m.crossplane.io')
  assert.match(errors(one('a') + one('b')).join('\n'), /two ProviderConfigs are called default/)
})

test('a fingerprint is pinned by an annotation, and a wrong one is refused', () => {
  const good = Array.from({ length: 32 }, () => 'ab').join(':')
  assert.equal(
    linked(config('a', `, annotations: {croft.dev/fingerprint: "${good}"}`)).connections[0]?.fingerprint,
    good.toUpperCase(),
  )
  assert.match(errors(config('a', ', annotations: {croft.dev/fingerprint: "ab:cd"}')).join('\n'), /32 pairs of digits/)
})
