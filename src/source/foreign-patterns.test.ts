import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { openSopsFile, valueAt } from './secrets/sops-file.ts'
import { readTexts } from './testing/fixture.ts'
import { sopsYaml } from './testing/sops-writer.ts'

const LONG = 'a'.repeat(200)
const EVIL = ['(a+)+b', '(a|a)*b', '(a|aa)+$b', '(.*)*b', '((a{1,30}){1,30})b']

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

const tree = (target: string) => ({
  'kustomization.yaml': `resources: [a.yaml]
patches:
  - target: {${target}}
    patch: |
      - {op: add, path: /metadata/labels, value: {hit: "yes"}}
`,
  'a.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: ${LONG}}
`,
})

test('[S-32] a pattern of a patch target cannot stop the reader', async () => {
  for (const pattern of EVIL)
    for (const field of ['name', 'kind', 'namespace', 'group', 'version']) {
      const ms = await cpuMs(() => readTexts(tree(`${field}: "${pattern}"`)))
      assert.ok(ms < 1_000, `${field} ${pattern}: ${ms} ms`)
    }
})

test('[S-32] what a linear engine does not read is refused with its file, not tried another way', () => {
  for (const pattern of ['(?!x)a', String.raw`(a)\\1`, 'a{5000}', `${'a'.repeat(600)}`]) {
    const { problems } = readTexts(tree(`name: "${pattern}"`))
    assert.match(
      problems.map(({ origin, message }) => `${origin.file} ${message}`).join(),
      /kustomization.yaml the pattern .* is refused/,
    )
  }
})

test('[S-32] the rule of an encrypted file cannot stop the reader either', async () => {
  const identity = await generateIdentity()
  const recipients = [await identityToRecipient(identity)]
  for (const pattern of EVIL.slice(0, 4)) {
    const text = await sopsYaml({ token: 'x' }, { recipients, encryptedRegex: '^token$' })
    const evil = text.replace('token:', `${LONG}:`).replace('^token$', pattern)
    const ms = await cpuMs(() => assert.rejects(openSopsFile('a.yaml', evil, [identity])))
    assert.ok(ms < 1_000, `${pattern}: ${ms} ms`)
  }
  const plain = '^(data|stringData)$'
  const written = await sopsYaml({ stringData: { a: 'b' } }, { recipients, encryptedRegex: plain })
  const usual = written.replace(plain, '(?i)^(data|stringdata)$')
  assert.equal(valueAt((await openSopsFile('a.yaml', usual, [identity]))[0] ?? null, 'stringData.a'), 'b')
})
