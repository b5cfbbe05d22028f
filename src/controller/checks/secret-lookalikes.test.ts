import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secretsOf } from '../../model/desired-secrets.ts'
import type { Estate } from '../../model/estate.ts'
import type { Desired } from '../../model/resource.ts'
import type { SecretReference } from '../../model/secret.ts'
import { missingSecrets, withoutMissing } from './secret-check.ts'

// Text of others often looks like a reference: `selector: {env: production}`. Only the field that takes a secret has one.

const LOOKALIKES: readonly Readonly<Record<string, unknown>>[] = [
  { env: 'production' },
  { file: '/etc/app.conf' },
  { vault: { path: 'a', key: 'b' } },
  { secretRef: { name: 'a', key: 'b' } },
  { sops: { file: 'a', key: 'b' } },
  { onePassword: { item: 'a', field: 'b' } },
]
const REAL: SecretReference = { env: 'TOKEN' }

const object = (fields: object, secrets?: Readonly<Record<string, SecretReference>>): Desired => ({
  type: 'object',
  object: {
    cluster: 'lab',
    addon: 'web',
    plural: 'services',
    deletion: 'Delete',
    object: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, ...fields },
    ...(secrets === undefined ? {} : { secrets }),
  },
})

const machine = (userData: object): Desired =>
  ({ type: 'vm', vm: { name: 'a', host: 'h', disks: [], nics: [], seed: { document: { userData } } } }) as never

const container = (fields: object): Desired => ({ type: 'container', container: { name: 'a', ...fields } }) as never
const item = (one: object): Desired => ({ type: 'item', item: { host: 'h', item: one } }) as never

/** Each place that carries text of others, with that text. */
const PLACES: readonly (readonly [string, (text: never) => Desired])[] = [
  ['the selector of a Service', (text) => object({ spec: { selector: text } })],
  ['the values of a chart', (text) => object({ spec: { values: { global: text } } })],
  ['labels of an object', (text) => object({ metadata: { name: 'web', labels: text } })],
  ['user data outside valueFrom', (text) => machine({ random_seed: text })],
  ['variables of a container', (text) => container({ environment: text })],
  ['settings of sshd', (text) => item({ type: 'sshd', name: 'sshd', spec: { settings: text } })],
  [
    'a block of a setting',
    (text) => ({ type: 'setting', setting: { definition: 'a', id: 'a', fields: { data: text } } }),
  ],
  ['properties of a dataset', (text) => item({ type: 'zfs-dataset', name: 'tank/a', spec: { properties: text } })],
]

for (const [place, desiredWith] of PLACES) {
  test(`${place}: a map with one key is never taken for a reference to a secret`, async () => {
    for (const text of LOOKALIKES) {
      const desired = desiredWith(text as never)
      assert.deepEqual(secretsOf(desired), [], JSON.stringify(text))
      const estate = { connections: [], resources: [{ key: 'Addon/web', desired }], unreadable: [], problems: [] }
      const missing = await missingSecrets(estate as unknown as Estate, () => Promise.reject(new Error('not set')))
      const left = withoutMissing(estate as unknown as Estate, missing)
      assert.deepEqual(
        left.resources.map(({ key }) => key),
        ['Addon/web'],
      )
    }
  })
}

test('each field that takes a secret is found', () => {
  const all: readonly Desired[] = [
    object({}, { token: REAL }),
    machine({ users: [{ passwd: { valueFrom: REAL } }] }),
    { type: 'vm', vm: { name: 'a', host: 'h', disks: [], nics: [], cloudInit: { password: REAL } } } as never,
    container({ password: REAL }),
    {
      type: 'setting',
      setting: { definition: 'user', id: 'a', fields: { enabled: true, password: REAL }, secrets: ['password'] },
    } as never,
    item({ type: 'file', name: '/etc/key', spec: { secret: REAL } }),
  ]
  for (const desired of all) assert.deepEqual(secretsOf(desired), [REAL], JSON.stringify(desired))
})
