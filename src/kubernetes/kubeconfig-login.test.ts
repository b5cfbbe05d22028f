import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { execInfo, readCredential } from './exec-credential.ts'
import { filesNamedIn, type KubeconfigOrigin, readLogin } from './kubeconfig-login.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** A kubeconfig as the tools of the clouds write it. */
function kubeconfig(user: object, cluster: object = { 'certificate-authority-data': base64('CA') }): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'prod',
    clusters: [{ name: 'c', cluster: { server: 'https://api.example.org:443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'prod', context: { cluster: 'c', user: 'u' } }],
  })
}

const HERE: KubeconfigOrigin = { local: true, file: (name) => (name === '/etc/k/ca.crt' ? 'CA FILE' : undefined) }
const FROM_GIT: KubeconfigOrigin = { local: false, file: () => 'must not be read' }

const EKS = {
  exec: {
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command: 'aws',
    args: ['--region', 'eu-west-1', 'eks', 'get-token', '--cluster-name', 'prod'],
    env: [{ name: 'AWS_PROFILE', value: 'prod' }],
  },
}
const GKE = {
  exec: {
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command: 'gke-gcloud-auth-plugin',
    installHint: 'Install gke-gcloud-auth-plugin',
    provideClusterInfo: true,
  },
}
const AKS = {
  exec: {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'kubelogin',
    args: ['get-token', '--login', 'azurecli', '--server-id', '6dae42f8'],
    env: null,
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
  },
}

describe('what a kubeconfig says', () => {
  test('a certificate, a token, the CA in it or the trust store of the system', () => {
    const certificate = readLogin(
      kubeconfig({ 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') }),
      undefined,
      FROM_GIT,
    )
    assert.ok(!('problem' in certificate) && certificate.login.by === 'certificate')
    assert.equal(certificate.caPem, 'CA')
    assert.equal(certificate.login.key.reveal(), 'KEY')
    const token = readLogin(kubeconfig({ token: 'abc' }, {}), 'prod', FROM_GIT)
    assert.ok(!('problem' in token) && token.login.by === 'token')
    assert.equal(token.caPem, undefined)
    assert.equal(JSON.stringify(token).includes('abc'), false)
  })

  for (const [name, user, command] of [
    ['EKS', EKS, 'aws'],
    ['GKE', GKE, 'gke-gcloud-auth-plugin'],
    ['AKS', AKS, 'kubelogin'],
  ] as const)
    test(`the program of ${name}, from this computer and never out of Git`, () => {
      const here = readLogin(kubeconfig(user), undefined, HERE)
      assert.ok(!('problem' in here) && here.login.by === 'program', JSON.stringify(here))
      assert.equal(here.login.program.command, command)
      assert.equal(here.login.program.cluster !== undefined, name === 'GKE')
      const git = readLogin(kubeconfig(user), undefined, FROM_GIT)
      assert.match('problem' in git ? git.problem : '', /runs a program only for a kubeconfig of this computer/)
    })

  test('files of this computer, where the kubeconfig is one of it', () => {
    const text = kubeconfig({ token: 't' }, { 'certificate-authority': '/etc/k/ca.crt' })
    assert.deepEqual(filesNamedIn(text, undefined), ['/etc/k/ca.crt'])
    const here = readLogin(text, undefined, HERE)
    assert.ok(!('problem' in here))
    assert.equal(here.caPem, 'CA FILE')
    const git = readLogin(text, undefined, FROM_GIT)
    assert.match('problem' in git ? git.problem : '', /names a file \(certificate-authority\)/)
    const gone = readLogin(kubeconfig({ tokenFile: '/run/token' }), undefined, HERE)
    assert.match('problem' in gone ? gone.problem : '', /the file \/run\/token \(tokenFile\) cannot be read/)
  })

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['no TLS', kubeconfig({ token: 't' }, { server: 'http://api' }), /not an https address/],
    ['any certificate', kubeconfig({ token: 't' }, { 'insecure-skip-tls-verify': true }), /insecure-skip-tls-verify/],
    ['a proxy', kubeconfig({ token: 't' }, { 'proxy-url': 'http://p' }), /proxy-url.*set spec\.proxy/],
    ['another name', kubeconfig({ token: 't' }, { 'tls-server-name': 'x' }), /tls-server-name/],
    ['a password', kubeconfig({ username: 'a', password: 'b' }), /username/],
    ['nothing', kubeconfig({}), /no client certificate with its key, no token and no exec/],
    [
      'an old exec',
      kubeconfig({ exec: { ...EKS.exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } }),
      /v1alpha1/,
    ],
    ['a question', kubeconfig({ exec: { ...AKS.exec, interactiveMode: 'Always' } }), /needs a terminal/],
    [
      'a loader',
      kubeconfig({ exec: { ...EKS.exec, env: [{ name: 'LD_PRELOAD', value: '/x.so' }] } }),
      /sets LD_PRELOAD/,
    ],
    ['a path', kubeconfig({ exec: { ...EKS.exec, env: [{ name: 'PATH', value: '/x' }] } }), /sets PATH/],
    ['no context', kubeconfig({ token: 't' }).replace('"prod"', '"gone"'), /no context gone/],
    ['no YAML', '{', /not YAML/],
  ]
  for (const [name, text, expected] of refused)
    test(`refused: ${name}`, () => {
      const read = readLogin(text, undefined, HERE)
      assert.match('problem' in read ? read.problem : JSON.stringify(read), expected)
    })
})

describe('what a credential program prints', () => {
  const V1 = 'client.authentication.k8s.io/v1'
  const printed = (status: object) => JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status })

  test('a token with its end, or a certificate', () => {
    const token = readCredential(printed({ token: 'k8s-aws-v1.abc', expirationTimestamp: '2026-01-01T00:15:00Z' }), V1)
    assert.ok(!('problem' in token))
    assert.equal(token.token?.reveal(), 'k8s-aws-v1.abc')
    assert.equal(token.untilMs, Date.parse('2026-01-01T00:15:00Z'))
    const certificate = readCredential(printed({ clientCertificateData: 'CERT', clientKeyData: 'KEY' }), V1)
    assert.ok(!('problem' in certificate))
    assert.equal(certificate.client?.certificatePem, 'CERT')
  })

  for (const text of ['', 'token: abc', printed({}), printed({ token: 7 }), JSON.stringify({ kind: 'ExecCredential' })])
    test(`refused without being repeated: ${text.slice(0, 40)}`, () => {
      const read = readCredential(text, V1)
      assert.ok('problem' in read)
      assert.equal(read.problem.includes('abc'), false)
    })

  test('the program is told of the cluster only where it asks', () => {
    const program = { apiVersion: V1, command: 'x', args: [], env: {} }
    assert.equal(execInfo(program).includes('server'), false)
    assert.match(execInfo({ ...program, cluster: { server: 'https://api' } }), /"server":"https:\/\/api"/)
  })
})
