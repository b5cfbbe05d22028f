import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskManifest } from './masked-manifest.ts'

test('[S-17] a manifest is shown without what its keys call secret; references, comments and order stay', () => {
  const text = `# who
spec:
  user: anna
  password: hunter2
  token: {env: PROXMOX_TOKEN}
  passwordSecretRef: {name: a, key: password}
  privateKey: |
    -----BEGIN KEY-----
    canary

  after: 1
  inline: {password: "hunter2", user: x, apiToken: {env: A}}
  list:
    - secret: hunter2
      name: n
    - token: >-
        hunter2
        more
  tokenFile: /etc/t
`
  const masked = maskManifest(text)
  assert.ok(!/hunter2|canary|more/.test(masked), masked)
  for (const kept of [
    '# who',
    'user: anna',
    '{env: PROXMOX_TOKEN}',
    '{name: a, key: password}',
    'after: 1',
    'name: n',
    '/etc/t',
    '{env: A}',
  ])
    assert.ok(masked.includes(kept), `${kept} is missing from ${masked}`)
})

test('[S-17] a secret on the line below its key, behind an anchor or in a list is masked too', () => {
  const text = `password:
  canary1
  canary2
token: &t canary3
secret: !!str "canary4"
tokens: [canary5, canary6]
secrets: [canary10,
  canary11]
passwords:
- canary7
- canary8
more:
  - apiKey:
      canary9
    name: shown
  - credentials:
      sops: {file: secrets.yaml, key: token}
  - secretRef:
      name: kept
      key: ubuntu
after: seen
`
  const masked = maskManifest(text)
  assert.ok(!masked.includes('canary'), masked)
  for (const kept of ['name: shown', 'sops: {file: secrets.yaml', 'name: kept', 'after: seen'])
    assert.ok(masked.includes(kept), `${kept} is missing from ${masked}`)
})

test('[S-17] pairs on one line are masked as those on lines of their own', () => {
  const text = `auth: {passphrase: canary, apiKey: canary2, user: anna, "api_key": 'canary3', keyRef: shown}
list: [{credential: canary4 canary5, name: n}, {token: {env: A}, passwd: "a \\" canary6"}]
`
  const masked = maskManifest(text)
  assert.ok(!masked.includes('canary'), masked)
  for (const kept of ['user: anna', 'keyRef: shown', 'name: n', '{env: A}']) assert.ok(masked.includes(kept), masked)
})
