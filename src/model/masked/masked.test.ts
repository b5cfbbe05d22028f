import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { maskChange } from './masked-change.ts'
import { maskManifest } from './masked-manifest.ts'
import { maskTree } from './masked-tree.ts'
import { namesSecret } from './secret-name.ts'
import { maskMessage } from './secret-text.ts'
import { fieldsOnly } from './shown-fields.ts'

const S = 'hunter2'

/** Secrets inside a text of a manifest. */
const IN_TEXT: Readonly<Record<string, string>> = {
  'environment of a command': `K3S_TOKEN=${S} sh /root/k3s.sh`,
  exported: `export DB_PASSWORD='${S}'`,
  'environment of a command, in double quotes': `PGPASSWORD="${S}" psql`,
  'flag with =': `--api-token=${S}`,
  'flag with a space': `tool --password ${S} --user app`,
  'user and password of curl': `curl -u app:${S} https://files.example`,
  'credentials in an address': `postgres://app:${S}@db/app`,
  'credentials of redis, without a user': `redis://:${S}@cache:6379/0`,
  header: `curl -H "Authorization: Bearer ${S}" https://api.example`,
  'basic authentication': `Authorization: Basic ${S}`,
  'parameter of an address': `https://api.example/x?token=${S}&page=2`,
  JSON: `{"apiKey":"${S}","size":3}`,
  chpasswd: `echo "root:${S}" | chpasswd`,
  netrc: `machine files.example login app password ${S}`,
  redis: `requirepass ${S}`,
  WireGuard: `PrivateKey = ${S}`,
  'WireGuard, shared': `PresharedKey=${S}`,
  colon: `smtp_password: ${S}`,
}

/** The forms of such a text in a manifest. */
const AROUND: Readonly<Record<string, (text: string) => string>> = {
  'a list of commands': (text) => `runcmd:\n  - ${JSON.stringify(text)}\n`,
  'a list in single quotes': (text) => `args: ['${text.replaceAll("'", "''")}']\n`,
  'a block': (text) =>
    `write_files:\n  - path: /etc/app.conf\n    content: |\n      [part]\n      ${text}\n      size = 3\n`,
  'a folded block': (text) => `spec:\n  script: >-\n    set -e;\n    ${text}\n`,
  'a comment': (text) => `spec:\n  size: 3 # ${text}\n`,
  'user data in a manifest': (text) =>
    `spec:\n  userData: |\n    #cloud-config\n    write_files:\n      - path: /etc/x\n        content: |\n          ${text}\n`,
}

/** Whole manifests with a secret in a field. */
const FIELDS: readonly string[] = [
  `password: ${S}\n`,
  `env:\n  - name: DB_PASSWORD\n    value: ${S}\n`,
  `env:\n  - {name: DB_PASSWORD, value: ${S}}\n`,
  `env:\n  - value: ${S}\n    name: DB_PASSWORD\n`,
  `env:\n  - name: K3S_TOKEN\n    value: >-\n      ${S}\n      ${S}\n`,
  `headers: [{name: Authorization, value: ${S}}]\n`,
  `parameters: [{key: adminPassword, value: ${S}}]\n`,
  `environment: {MYSQL_PWD: ${S}, SIZE: 3}\n`,
  `args: [--password, ${S}]\n`,
  `args:\n  - "--token"\n  - ${S}\n`,
  `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  plain: ${S}\n  more: |\n    ${S}\n`,
  `stringData: {plain: ${S}}\nkind: Secret\n`,
  `{"kind": "Secret", "data": {"x": "${S}"}}`,
  `chpasswd:\n  list: |\n    root:${S}\n  expire: false\n`,
  `users: [{name: app, plain_text_passwd: ${S}}]\n`,
  `users: [{name: app, passwd: "$6$salt$${S}${S}"}]\n`,
  `write_files:\n  - path: /root/.pgpass\n    content: ${S}\n`,
  `write_files:\n  - content: ${S}\n    path: /etc/app/token\n`,
  `spec:\n  valuesContent: |\n    grafana:\n      adminPassword: ${S}\n    replicas: 2\n`,
  `spec:\n  values:\n    auth: {postgresPassword: ${S}}\n`,
  `tls:\n  key: |\n    -----BEGIN EC PRIVATE KEY-----\n    ${S}\n    -----END EC PRIVATE KEY-----\n`,
  `content: "-----BEGIN PRIVATE KEY-----\\n${S}\\n-----END PRIVATE KEY-----\\n"\n`,
  `shared: &p ${S}\npassword: *p\n`,
  `password: "${S}`,
  `a: [\npassword: ${S}\n`,
  `password:\n  ${S}\n  ${S}\n`,
  `text: "{\\"password\\": \\"${S}\\"}"\n`,
  `token: {value: ${S}}\n`,
  `passwords: {anna: ${S}, bert: ${S}}\n`,
  `pin: 1\npassphrase: !!str "${S}"\n`,
  `ghToken: x\nnote: ghp_${S}${S}${S}\n`.replaceAll(`${S}${S}${S}`, `${S}abcdefghijklmnopqrst`),
]

const CORPUS: readonly string[] = [
  ...FIELDS,
  ...Object.values(IN_TEXT).flatMap((text) => Object.values(AROUND).map((around) => around(text))),
]

describe('[S-17] a secret in a manifest is not shown', () => {
  test(`${CORPUS.length} manifests`, () => {
    assert.ok(CORPUS.length >= 100)
    const shown = CORPUS.filter((text) => maskManifest(text).includes(S))
    assert.deepEqual(shown, [])
  })

  test('nor in a message that quotes it', () => {
    const shown = Object.values(IN_TEXT).filter((text) => maskMessage(`the command failed: ${text}`).includes(S))
    assert.deepEqual(shown, [])
  })

  test('nor where the parsed value is shown', () => {
    const shown = Object.values(IN_TEXT).filter((text) =>
      JSON.stringify(maskTree({ spec: { args: [text], script: `set -e\n${text}\n` } })).includes(S),
    )
    assert.deepEqual(shown, [])
  })

  test('nor in a change of it', () => {
    const paths: readonly [path: string, value: unknown][] = [
      ['spec.valuesContent.adminPassword', S],
      ['spec.template.spec.containers[name=app].env[name=DB_PASSWORD].value', S],
      ['spec.env', [{ name: 'DB_PASSWORD', value: S }]],
      ['spec.containers[0].args', ['--token', S]],
      ['spec.url', `postgres://app:${S}@db/app`],
      ['content', `[Interface]\nPrivateKey = ${S}\n`],
      ['values', JSON.stringify({ auth: { rootPassword: S } })],
      ['spec.env[name=API_TOKEN]', { name: 'API_TOKEN', value: S }],
    ]
    for (const [path, value] of paths) {
      const { from, to } = maskChange({ path, from: value, to: value, effect: 'live' })
      assert.ok(!JSON.stringify([from, to]).includes(S), path)
    }
  })
})

test('who did not sign in sees fields, and neither comments nor texts', () => {
  const shown = fieldsOnly('# mine\nspec:\n  size: 3 # why\n  script: |\n    one\n    two\n  args: [a, b]\n')
  assert.equal(shown, 'spec:\n  size: 3\n  script: (2 lines; sign in to read them)\n  args:\n    - a\n    - b\n')
  assert.match(fieldsOnly('a: [\n# anna'), /^# Sign in/)
})

describe('what is no secret stays', () => {
  test('JSON in a text stays as it was written, and is written anew where something in it is masked', () => {
    for (const text of ['{ "replicaCount": 1, "ui": { "color": "blue" } }', '[ 1,\n 2 ]', '{"a": 1e2}'])
      assert.equal(maskTree(text), text)
    assert.equal(maskTree('{ "rootPassword": "x9-long-enough", "n": 1 }'), '{"rootPassword":"***","n":1}')
  })

  test('a manifest without secrets is the same text', () => {
    const text = `# the web server; see the wiki for tokens
apiVersion: croft.dev/v1
kind: EnvironmentVM
metadata: {name: web-1, labels: {token-service: "yes", app: passbook}}
spec:
  image: ghcr.io/org/token-service:1.2.3@sha256:0123456789abcdef
  memory: 4096
  token: {env: PROXMOX_TOKEN}
  passwordFrom: {file: /etc/x}
  tokenFile: /etc/t
  existingSecret: database
  secretName: tls-web
  automountServiceAccountToken: false
  maxTokens: 4096
  lock_passwd: true
  tolerations:
    - key: node-role.kubernetes.io/control-plane
      operator: Exists
    - {key: dedicated, value: database}
  env:
    - name: LOG_LEVEL
      value: debug
    - name: DB_PASSWORD_FILE
      value: /run/db
    - {name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}
  args: [--size=3, "--name", web-1, --token-file=/run/t]
  sshKeys:
    - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0123456789abcdefghijklmnopqrstuvwxyzAB anna
  script: |
    TOKEN=$(cat /run/t) tool --size 3
    MODE=fast tool https://files.example:8443/x
  sizes:   [ 1,  2 ]   # kept as written
`
    assert.equal(maskManifest(text), text)
  })

  test('words of messages', () => {
    for (const message of [
      'token: not found',
      'the secret: key is missing in Secret db/app',
      'spec.password must be a reference, such as {env: NAME}',
      'POST https://pve1:8006/api2/json/access/ticket: 401 authentication failure',
      'EnvironmentVM/token-1: memory 2048 → 4096',
    ])
      assert.equal(maskMessage(message), message)
  })

  test('names of fields', () => {
    const shown =
      'image name memory keys publicKey hostKey secretName tokenId compass bypass tokenizer existingSecret key'
    for (const name of shown.split(' ')) assert.ok(!namesSecret(name), name)
    const hidden =
      'password DB_PASS K3S_TOKEN apiKey secretKey PGPASSWORD clientSecret WIFI_PSK passwordHash --api-token'
    for (const name of hidden.split(' ')) assert.ok(namesSecret(name), name)
  })

  test('changes of names, images and sizes', () => {
    for (const [path, from, to] of [
      ['memory.dedicatedMb', 2048, 4096],
      ['spec.template.spec.containers[name=app].image', 'app:1', 'app:2'],
      ['spec.env[name=LOG_LEVEL].value', 'info', 'debug'],
      ['disks.scsi0', 'local:vm-1-disk-0,size=8G', 'local:vm-1-disk-0,size=16G'],
    ] as const) {
      const change = { path, from, to, effect: 'live' } as const
      assert.deepEqual(maskChange(change), change)
    }
  })
})

test('a long line costs no more than its length', { timeout: 20_000 }, () => {
  for (const piece of [
    'a',
    'a=',
    'token:',
    'a://',
    '"',
    '-',
    'password ',
    'Bearer ',
    'K10',
    '{',
    '$',
    'x@y!z',
    '-----BEGIN ',
  ])
    maskManifest(`spec:\n  text: |\n    ${piece.repeat(Math.ceil(100_000 / piece.length))}\n`)
})
