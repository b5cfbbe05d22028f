import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import fc from 'fast-check'
import { filesOf } from '../../../test/simulation/manifests.ts'
import { atOnce } from '../../lib/in-turns.ts'
import { secretsOf } from '../../model/desired-secrets.ts'
import { statusIn } from '../../model/estate-status.ts'
import type { EstateView } from '../../model/estate-view.ts'
import { maskManifest } from '../../model/masked/masked-manifest.ts'
import type { SecretReference } from '../../model/secret.ts'
import { troublesOf } from '../../model/trouble.ts'
import { projectPage } from '../../server/api/project.ts'
import { openVault } from '../../source/secrets/secret-vault.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { sopsYaml } from '../../source/testing/sops-writer.ts'
import { missingSecrets } from '../checks/secret-check.ts'
import { readConfig } from '../config.ts'
import { metricsText } from '../view/metrics.ts'
import { viewOf } from '../view/view.ts'
import { grantOf } from './grant-schema.ts'
import { linkRevision } from './link-revision.ts'
import { mergeRevisions } from './merge.ts'
import { createSourceKeys } from './source-keys.ts'

/*
 * Two tenants and an administrator, each with its secret in an encrypted file and in an encrypted Secret. Each tenant
 * copies files of the others byte for byte, names them under every path that it can think of, and refers to them in
 * every form. Nothing that is made for one source may hold, and no page, notice, error or problem may tell, a secret of
 * another.
 */

const OWNERS = ['admin', 'one', 'two'] as const
type Owner = (typeof OWNERS)[number]
const canary = (owner: Owner) => `canary-of-${owner}`

const identity = Object.fromEntries(
  await Promise.all(OWNERS.map(async (one) => [one, await generateIdentity()] as const)),
)
const recipients = async (owner: Owner) => [await identityToRecipient(identity[owner] ?? '')]
const sealed = Object.fromEntries(
  await Promise.all(
    OWNERS.map(async (owner) => {
      const to = await recipients(owner)
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'users' },
        stringData: { key: canary(owner) },
      }
      return [
        owner,
        {
          file: await sopsYaml({ token: canary(owner) }, { recipients: to }),
          secret: await sopsYaml(secret, { recipients: to, encryptedRegex: '^stringData$' }),
        },
      ] as const
    }),
  ),
)

type Form = 'fields' | 'text' | 'class'
const owner = fc.constantFrom(...OWNERS)
/** Paths of a file, and names to ask for it. */
const path = fc.constantFrom(
  'secrets.yaml',
  'users.yaml',
  'one/secrets.yaml',
  'two/secrets.yaml',
  'admin/secrets.yaml',
  'x.yaml',
)
const asked = fc
  .tuple(fc.constantFrom('', 'admin:', 'one:', 'two:', './', '../', '../admin/', 'one:two:', 'admin:../'), path)
  .map(([before, file]) => `${before}${file}`)
const reference = fc.oneof(
  asked.map((file) => `{sops: {file: "${file}", key: token}}`),
  asked.map((file) => `{sops: {file: "${file}", key: stringData.key}}`),
  fc.constant('{env: ADMIN_TOKEN}'),
  fc.constantFrom('/etc/croft/admin', '/etc/croft/one/../admin').map((file) => `{file: ${file}}`),
)
/** Another source's file, whole or as a Secret, or one's own, at some path. */
const copies = fc.dictionary(path, fc.tuple(owner, fc.constantFrom('file', 'secret')), { maxKeys: 4 })
const tenant = fc.record({
  copies,
  /** In fields, in text that is read only when the machine is made, or in a class of the administrator. */
  references: fc.array(fc.tuple(reference, fc.constantFrom<Form>('fields', 'text', 'class')), {
    minLength: 1,
    maxLength: 4,
  }),
})

const CLASS = `apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: usual}
spec:
  cpu: {cores: 1}
  memory: 1Gi
  userData: {write_files: [{path: /x, content: {valueFrom: {sops: {file: secrets.yaml, key: token}}}}]}
`
const PLACES = `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: fun-bedbug}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local}}}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec: {url: "https://images.example/noble.qcow2", storage: fast, checksum: "sha256:${'a'.repeat(64)}"}
`
const USER_DATA: Readonly<Record<Form, (reference: string) => string>> = {
  fields: (one) => `userData: {write_files: [{path: /x, content: {valueFrom: ${one}}}]}`,
  text: (one) => `userData: |\n    #cloud-config\n    write_files: [{path: /x, content: {valueFrom: ${one}}}]`,
  class: () => 'class: usual',
}
const machineWith = (name: string, reference: string, form: Form = 'fields') => `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec:
  host: fun-bedbug
  cpu: {cores: 1}
  memory: 1Gi
  disks: [{image: noble, storage: fast, size: 10Gi}]
  networks: [{network: lan, address: dhcp}]
  ${USER_DATA[form](reference)}
`

test('[S-47] no secret of one source is ever in what is made for another, nor in an error', async () => {
  let own = 0
  await fc.assert(
    fc.asyncProperty(fc.record({ one: tenant, two: tenant }), async (tenants) => {
      const textsOf = (name: 'one' | 'two'): Record<string, string> => {
        const { copies: taken, references } = tenants[name]
        const files = Object.entries(taken).map(([at, [from, form]]) => [
          at,
          sealed[from]?.[form as 'file' | 'secret'] ?? '',
        ])
        const machines = references.map(([one, form], at) => [`m${at}.yaml`, machineWith(`${name}-m${at}`, one, form)])
        return Object.fromEntries([...files, ...machines])
      }
      const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
        admin: {
          ...filesOf([{ name: 'db', host: 'fun-bedbug', vmid: 200 }]),
          'secrets.yaml': sealed.admin?.file ?? '',
          'users.yaml': sealed.admin?.secret ?? '',
          'places.yaml': PLACES,
          'class.yaml': CLASS,
          'a.yaml': machineWith('a', '{sops: {file: secrets.yaml, key: token}}'),
        },
        one: textsOf('one'),
        two: textsOf('two'),
      }
      const all = ['*']
      const grant = {
        kinds: ['EnvironmentVM', 'Machine'],
        connections: all,
        hosts: all,
        storages: all,
        networks: all,
        templates: all,
        vmids: { from: 500, to: 599 },
      }
      const { sources } = readConfig(
        {
          sources: [
            { name: 'admin', directory: '/a' },
            { name: 'one', directory: '/o', age: '/one.txt', grant },
            { name: 'two', directory: '/t', age: '/two.txt', grant },
          ],
        },
        {},
        {},
      )
      const revision = mergeRevisions(
        sources.map(({ name, grant: given }) => ({
          source: name,
          revision: { ...readTexts(texts[name] ?? {}), read: async (file: string) => texts[name]?.[file] },
          ...(given === undefined ? {} : { grant: grantOf(name, given) }),
        })),
      )
      const estate = linkRevision(revision)
      const keys = createSourceKeys(sources, {
        common: async () => [identity.admin ?? ''],
        in: async (file) => [identity[file.slice(1, 4)] ?? ''],
      })
      const vault = openVault(revision, async (file) => revision.read?.(file), keys)
      const resolve = async (asking: SecretReference) => {
        if (!('sops' in asking) && !('secretRef' in asking)) throw new Error('the controller keeps this')
        const found = await vault.find(asking)
        if (found === undefined) throw new Error('there is none')
        return found
      }
      // All output: no problem or error contains any secret, of any owner.
      const lacking = await missingSecrets(estate, resolve)
      // The sources of plans, records, exports and bundles, of the page, its answers, notices and metrics.
      const view: EstateView = {
        ...atOnce(viewOf({ sources: [], estate, drifts: [], checks: [] })),
        version: 1,
        atMs: 0,
      }
      const counters = { passes: 0, effects: 0, passMs: 0, sourceLooks: 0, sourceTroubles: 0, pokes: 0 }
      const told = {
        problems: [estate.problems, lacking],
        estate,
        page: projectPage(view, { cursor: '', ready: true }),
        manifests: revision.declarations.map((one) => maskManifest(revision.text?.(one) ?? '')),
        notices: troublesOf(statusIn(view), 0),
        metrics: metricsText(view, counters, '0', 0),
      }
      for (const [where, what] of Object.entries(told))
        for (const one of OWNERS) assert.ok(!JSON.stringify(what).includes(canary(one)), `${where} of ${one}`)
      // Each guest may get secrets only from the source that declares it.
      let given = 0
      for (const { key, desired } of estate.resources) {
        const mine = OWNERS.find((one) => key.startsWith(`Machine/${one}-`)) ?? 'admin'
        for (const asking of secretsOf(desired)) {
          const value = await resolve(asking).then(
            (secret) => secret.reveal(),
            (error: unknown) => String(error),
          )
          for (const other of OWNERS)
            if (other !== mine) assert.ok(!value.includes(canary(other)), `${key} got ${value}`)
          if (value !== canary(mine)) continue
          given++
          if (mine !== 'admin') own++
        }
      }
      assert.ok(given > 0, "the administrator's own machine gets its secret")
    }),
    { numRuns: process.env.CROFT_LONG === undefined ? 100 : 3_000, seed: 47 },
  )
  assert.ok(own > 0, 'tenants get what is their own')
})
