import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { Secret } from '../model/secret.ts'
import { type KubeconfigEntry, mergeKubeconfig, readKubeconfig, renderKubeconfig } from './kubeconfig.ts'

const ENTRY: KubeconfigEntry = {
  name: 'homelab',
  endpoint: 'https://192.168.4.79:6443',
  caPem: 'CA\n',
  certificatePem: 'CERT\n',
  key: new Secret('KEY\n'),
}

const OTHERS = `# mine
apiVersion: v1
kind: Config
clusters:
  - name: work # the office
    cluster: {server: https://work:6443, certificate-authority: /etc/ca.pem, x-unknown: 1}
contexts:
  - {name: work, context: {cluster: work, user: me, namespace: dev}}
users:
  - name: me
    user:
      exec: {command: aws, args: [eks]}
current-context: work
extensions: [{name: x, extension: {a: 1}}]
`

function merged(existing: string, switchContext = false): string {
  const answer = mergeKubeconfig(existing, ENTRY, { switchContext })
  assert.ok('text' in answer, 'problem' in answer ? answer.problem : '')
  return answer.text
}

describe('merging', () => {
  test('loses nothing of what is there: other contexts, unknown fields, comments', () => {
    const text = merged(OTHERS)
    const [before, after] = [parse(OTHERS), parse(text)]
    assert.deepEqual(after.clusters[0], before.clusters[0])
    assert.deepEqual(after.users[0], before.users[0])
    assert.deepEqual(after.contexts[0], before.contexts[0])
    assert.deepEqual(after.extensions, before.extensions)
    assert.match(text, /# mine/)
    assert.match(text, /# the office/)
    assert.equal(after['current-context'], 'work')
    assert.equal(after.clusters[1].cluster.server, ENTRY.endpoint)
  })

  test('switches only when asked, and where nothing was chosen', () => {
    assert.equal(parse(merged(OTHERS, true))['current-context'], 'homelab')
    assert.equal(parse(merged(''))['current-context'], 'homelab')
  })

  test('twice is the same as once, and keeps the namespace that a person chose', () => {
    const once = merged(OTHERS)
    assert.equal(merged(once), once)
    const chosen = once.replace('user: homelab', 'user: homelab\n      namespace: web')
    assert.equal(parse(merged(chosen)).contexts[1].context.namespace, 'web')
  })

  test('an entry of the same name that belongs to another cluster is refused, and everything stays', () => {
    const taken = (list: string, inner: string) =>
      OTHERS.replace(`${list}:\n`, `${list}:\n  - {name: homelab, ${inner}}\n`)
    const foreign = [
      taken('clusters', 'cluster: {server: https://other.example, certificate-authority-data: QUJD}'),
      taken('clusters', 'cluster: {}'),
      taken('users', 'user: {token: abc}'),
      taken('contexts', 'context: {cluster: work, user: me}'),
    ]
    for (const text of foreign) {
      const answer = mergeKubeconfig(text, ENTRY, { switchContext: true })
      assert.ok('problem' in answer && /rename that entry/.test(answer.problem), text)
    }
  })

  test('our own entry is renewed after a new CA, and after a new address', () => {
    const once = merged('')
    for (const mine of [
      once.replace(parse(once).clusters[0].cluster['certificate-authority-data'], 'T0xE'),
      once.replace(ENTRY.endpoint, 'https://192.168.4.9:6443'),
    ]) {
      assert.notEqual(mine, once)
      assert.equal(merged(mine), once)
    }
  })

  test('does not touch what it cannot read whole', () => {
    for (const text of ['[1, 2]', 'clusters: {a: 1}', 'a: [', 'just text']) {
      assert.ok('problem' in mergeKubeconfig(text, ENTRY, { switchContext: false }), text)
    }
  })
})

describe('reading', () => {
  test('its own is read back', () => {
    const access = readKubeconfig(renderKubeconfig(ENTRY))
    assert.ok('endpoint' in access)
    assert.deepEqual(
      [access.endpoint, access.caPem, access.certificatePem, access.key.reveal()],
      [ENTRY.endpoint, 'CA\n', 'CERT\n', 'KEY\n'],
    )
  })

  const user = (fields: object) => {
    const file = parse(renderKubeconfig(ENTRY))
    Object.assign(file.users[0].user, fields)
    return JSON.stringify(file)
  }
  const cluster = (fields: object) => {
    const file = parse(renderKubeconfig(ENTRY))
    Object.assign(file.clusters[0].cluster, fields)
    return JSON.stringify(file)
  }
  const rows: readonly (readonly [string, string])[] = [
    ['exec', user({ exec: { command: 'touch', args: ['/tmp/p'] } })],
    ['auth-provider', user({ 'auth-provider': { name: 'oidc' } })],
    ['tokenFile', user({ tokenFile: '/etc/shadow' })],
    ['client-key', user({ 'client-key': '/etc/shadow' })],
    ['insecure-skip-tls-verify', cluster({ 'insecure-skip-tls-verify': true })],
    ['certificate-authority', cluster({ 'certificate-authority': '/etc/shadow' })],
    ['proxy-url', cluster({ 'proxy-url': 'http://evil' })],
  ]
  for (const [field, text] of rows) {
    test(`[S-03] ${field} is refused by name`, () => {
      const access = readKubeconfig(text)
      assert.ok('problem' in access)
      assert.match(access.problem, new RegExp(field))
    })
  }

  test('an address without TLS, a missing CA and a missing context are refused', () => {
    for (const text of [cluster({ server: 'http://x' }), cluster({ 'certificate-authority-data': '' }), '{}', 'a: [']) {
      assert.ok('problem' in readKubeconfig(text))
    }
    assert.ok('problem' in readKubeconfig(renderKubeconfig(ENTRY), 'other'))
    for (const text of ['*a', 'a: '.repeat(100_000)]) assert.ok('problem' in readKubeconfig(text))
  })
  test('[S-45] keys that are maps themselves are refused before anybody writes them out', () => {
    for (const text of ['? '.repeat(300), '{[a, b]: c}', `${'a: {'.repeat(150)}b: c${'}'.repeat(150)}`]) {
      const read = readKubeconfig(text.replace(/^a: /, ''))
      assert.ok('problem' in read)
      assert.match(read.problem, /keys of several values/)
    }
  })
})
