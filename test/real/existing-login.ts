import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createKubernetesClient } from '../../src/kubernetes/client.ts'
import { at } from '../../src/kubernetes/objects.ts'
import type { RealApi } from './kube-apiserver.ts'
import { PROGRAM } from './operator-ground.ts'

/* Ways into a cluster that croft did not make, on a real kube-apiserver: the program of a kubeconfig, a pod's account. */

const ADDON = (name: string) => `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: ${name}}
spec:
  cluster: prod
  objects:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, namespace: default}, data: {by: ${name}}}
`
const cluster = (way: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Cluster\nmetadata: {name: prod}\nspec: {type: existing, ${way}}\n`

/** In a separate mount namespace, so that no file of the account stays on this computer. */
const AS_POD = `mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount &&
cp "$0"/token "$0"/ca.crt "$0"/namespace /run/secrets/kubernetes.io/serviceaccount/ && exec "$@"`

export function existingLogin(api: () => RealApi): void {
  const place = mkdtempSync(join(tmpdir(), 'croft-login-'))
  after(() => rmSync(place, { recursive: true, force: true }))

  const run = async (words: readonly string[], env: NodeJS.ProcessEnv) => {
    const [program = '', ...rest] = words
    const child = spawn(program, rest, {
      env: { PATH: process.env.PATH, HOME: place, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)))
    const code = await new Promise<number | null>((done) => child.once('close', done))
    return { code, said }
  }
  const estate = (name: string, way: string) => {
    const directory = join(place, name)
    mkdirSync(directory)
    writeFileSync(join(directory, 'estate.yaml'), cluster(way) + ADDON(name))
    return directory
  }
  const croft = (...words: readonly string[]) => [process.execPath, ...PROGRAM, ...words]
  const applied = async (name: string) => {
    const asked = await createKubernetesClient(api().wire).get(`/api/v1/namespaces/default/configmaps/${name}`)
    return asked.is === 'answer' ? at(asked.value, 'data', 'by') : asked.is
  }

  test('the program that a kubeconfig names logs in, and only if it is allowed', async () => {
    const right = readFileSync(api().kubeconfig, 'utf8')
    const word = (name: string) =>
      Buffer.from(new RegExp(`${name}: (.*)`).exec(right)?.[1] ?? '', 'base64').toString('utf8')
    const status = {
      clientCertificateData: word('client-certificate-data'),
      clientKeyData: word('client-key-data'),
    }
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }
    const program = join(place, 'cloud-login')
    writeFileSync(program, `#!/bin/sh\ncat <<'END'\n${JSON.stringify(credential)}\nEND\n`)
    chmodSync(program, 0o755)
    const login = `      exec: {apiVersion: client.authentication.k8s.io/v1, command: ${program}, interactiveMode: Never}\n`
    const kubeconfig = join(place, 'exec.kubeconfig')
    const text = right.replace(/ +client-certificate-data: .*\n +client-key-data: .*\n/, login)
    assert.notEqual(text, right)
    writeFileSync(kubeconfig, text, { mode: 0o600 })
    const directory = estate('by-program', `kubeconfig: {file: ${kubeconfig}}`)
    const refused = await run(croft('plan', directory), {})
    assert.match(refused.said, /croft runs only what CROFT_KUBECONFIG_PROGRAMS lists/)
    assert.equal(await applied('by-program'), 'error')
    const env = { CROFT_KUBECONFIG_PROGRAMS: program }
    const done = await run(croft('apply', directory, '--yes'), env)
    assert.equal(done.code, 0, done.said)
    assert.equal(await applied('by-program'), 'by-program')
    assert.equal((await run(croft('plan', directory), env)).code, 0)
  })

  test('in a pod croft uses the account of the pod', async () => {
    const client = createKubernetesClient(api().wire)
    const account = '/api/v1/namespaces/default/serviceaccounts/croft-pod'
    await client.apply(
      account,
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'croft-pod', namespace: 'default' } },
      'croft-pod',
    )
    const token = await tokenOf(api(), account)
    const files = join(place, 'account')
    mkdirSync(files)
    const right = readFileSync(api().kubeconfig, 'utf8')
    const authority = /certificate-authority-data: (.*)/.exec(right)?.[1] ?? ''
    writeFileSync(join(files, 'token'), token)
    writeFileSync(join(files, 'ca.crt'), Buffer.from(authority, 'base64'))
    writeFileSync(join(files, 'namespace'), 'default')
    const { hostname, port } = new URL(/server: (\S+)/.exec(right)?.[1] ?? '')
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
    const directory = estate('in-pod', 'inCluster: true')
    const inPod = (...words: readonly string[]) =>
      run(['unshare', '--mount', 'sh', '-c', AS_POD, files, ...croft(...words)], env)
    const poor = await inPod('plan', directory)
    assert.match(poor.said, /croft-pod.*(?:cannot|may not|not allowed)|forbidden/i)
    const name = 'croft-pod'
    await client.apply(
      `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${name}`,
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
      },
      name,
    )
    const done = await inPod('apply', directory, '--yes')
    assert.equal(done.code, 0, done.said)
    assert.equal(await applied('in-pod'), 'in-pod')
    assert.equal((await inPod('plan', directory)).code, 0)
  })
}

/** A token of the account, made by the server as for a pod. */
async function tokenOf({ wire }: RealApi, account: string): Promise<string> {
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })
  const answer = await wire.send({
    method: 'POST',
    path: `${account}/token`,
    headers: { 'content-type': 'application/json' },
    body,
  })
  assert.equal(answer.status, 201, String(answer.body))
  const { status } = JSON.parse(String(answer.body)) as { readonly status: { readonly token: string } }
  return status.token
}
