import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { seededRandom } from '../../src/lib/random.ts'
import { BINARY, programText, unitPath } from '../k3s/disk.ts'
import { startService } from '../k3s/service.ts'
import { addBox } from '../metal/box.ts'
import { createScaledClock } from '../scaled-clock.ts'
import { adminOf, FIRST, JOIN, RECORDED_VERSION } from '../testing/k3s-lab.ts'
import { createWorld } from '../world/create-world.ts'
import { type ClusterProxy, serveClusters } from './proxy.ts'

const KUBECTL = ['/usr/bin/kubectl', '/usr/local/bin/kubectl'].find((path) => existsSync(path))
const skip =
  KUBECTL === undefined && process.env.CI === undefined
    ? 'kubectl is missing (apt package kubernetes-client or kubectl)'
    : false

let proxy: ClusterProxy | undefined
let folder = ''

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function kubectl(args: readonly string[], input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      KUBECTL ?? 'kubectl',
      ['--kubeconfig', join(folder, 'config'), '--cache-dir', join(folder, 'cache'), ...args],
      { timeout: 120_000, env: { HOME: folder, PATH: '/usr/bin:/bin' } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    )
    child.stdin?.end(input)
  })
}

/** A hundred seconds in one: the cluster of two servers and an agent is there at once. */
before(async () => {
  if (skip !== false) return
  const clock = createScaledClock(100)
  const world = createWorld({ clock, random: seededRandom(3) })
  folder = mkdtempSync(join(tmpdir(), 'croft-kubectl-'))
  const boxes = new Map(
    ['s1', 's2', 's3'].map((name, index) => [name, addBox(world, { name, addresses: [`10.67.0.${index + 1}`] })]),
  )
  const ready = async (count: number) => {
    for (let tries = 0; tries < 600; tries++) {
      const [cluster] = world.k3s.clusters.values()
      const nodes = [...(cluster?.store.tables.get('/nodes')?.values() ?? [])]
      const up = nodes.filter(({ status }) => JSON.stringify(status).includes('"KubeletReady"'))
      if (up.length >= count) return
      await clock.sleep(1_000)
    }
    throw new Error(`no ${count} nodes became ready`)
  }
  for (const [index, [name, box]] of [...boxes].entries()) {
    box.machine.files.write(BINARY, programText(RECORDED_VERSION))
    const flags = {
      'node-name': name,
      'node-ip': box.addresses[0],
      'tls-san': ['10.67.0.100'],
      ...(index === 0 ? FIRST : JOIN),
    }
    box.machine.files.write('/etc/rancher/k3s/config.yaml', JSON.stringify(flags))
    box.machine.files.write(unitPath('server'), '')
    startService(box.computer)
    await ready(index + 1)
  }
  await clock.sleep(30_000)
  proxy = await serveClusters(world)
  const [cluster] = world.k3s.clusters.values()
  const files = cluster?.bootstrap.files ?? new Map<string, string>()
  const admin = adminOf(files, clock.now())
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  writeFileSync(
    join(folder, 'config'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'sim',
      clusters: [
        {
          name: 'sim',
          cluster: {
            server: 'https://10.67.0.100:6443',
            'proxy-url': proxy.url,
            'certificate-authority-data': base64(files.get('server-ca.crt') ?? ''),
          },
        },
      ],
      users: [
        {
          name: 'admin',
          user: {
            'client-certificate-data': base64(admin.certificatePem),
            'client-key-data': base64(admin.key.reveal()),
          },
        },
      ],
      contexts: [{ name: 'sim', context: { cluster: 'sim', user: 'admin' } }],
    }),
    { mode: 0o600 },
  )
})

after(async () => {
  await proxy?.close()
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
})

test('real kubectl shows nodes and pods of the simulated cluster, over a virtual address and the proxy', {
  skip,
}, async () => {
  const nodes = await kubectl(['get', 'nodes', '-o', 'wide'])
  assert.equal(nodes.code, 0, nodes.err)
  for (const name of ['s1', 's2', 's3'])
    assert.match(nodes.out, new RegExp(`${name} +Ready +control-plane,etcd +\\S+ +v1\\.36\\.3\\+k3s1 +10\\.67\\.0\\.`))
  const pods = await kubectl(['get', 'pods', '-A'])
  assert.match(pods.out, /kube-system +coredns-\S+ +1\/1 +Running +0/)
  const described = await kubectl(['describe', 'node', 's2'])
  assert.equal(described.code, 0, described.err)
  assert.match(described.out, /EtcdIsVoter +True .*MemberNotLearner/)
  assert.match(
    (await kubectl(['api-resources'])).out,
    /poddisruptionbudgets +pdb +policy\/v1 +true +PodDisruptionBudget/,
  )
  assert.match((await kubectl(['version'])).out, /Server Version: .*v1\.36\.3\+k3s1/)
  assert.match((await kubectl(['get', '--raw', '/readyz'])).out, /^ok/)
  assert.match((await kubectl(['auth', 'can-i', 'delete', 'nodes'])).out, /yes/)
})

const WORKLOAD = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: 'registry/web:1'}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {colour: green}
`

test('real kubectl applies on the server, sees conflicts, rolls out, cordons, drains and deletes', {
  skip,
}, async () => {
  const applied = await kubectl(['apply', '--server-side', '-f', '-'], WORKLOAD)
  assert.equal(applied.code, 0, applied.err)
  assert.match(applied.out, /deployment\.apps\/web serverside-applied/)
  const again = await kubectl(['apply', '--server-side', '-f', '-'], WORKLOAD)
  assert.equal(again.code, 0, again.err)
  const rolled = await kubectl(['rollout', 'status', '-n', 'shop', 'deployment/web', '--timeout=20s'])
  assert.equal(rolled.code, 0, rolled.err)
  const other = WORKLOAD.replace('colour: green', 'colour: red')
  const fought = await kubectl(['apply', '--server-side', '--field-manager=other', '-f', '-'], other)
  assert.notEqual(fought.code, 0)
  assert.match(fought.err, /conflict with "kubectl".*\.data\.colour/s)
  assert.equal(
    (await kubectl(['apply', '--server-side', '--field-manager=other', '--force-conflicts', '-f', '-'], other)).code,
    0,
  )
  const drained = await kubectl([
    'drain',
    's3',
    '--ignore-daemonsets',
    '--delete-emptydir-data',
    '--force',
    '--timeout=25s',
  ])
  assert.equal(drained.code, 0, drained.err + drained.out)
  assert.match((await kubectl(['get', 'node', 's3'])).out, /Ready,SchedulingDisabled/)
  const left = await kubectl(['get', 'pods', '-A', '-o', 'jsonpath={.items[*].spec.nodeName}'])
  assert.doesNotMatch(left.out, /s3/)
  assert.equal((await kubectl(['uncordon', 's3'])).code, 0)
  const clientSide = await kubectl(
    ['apply', '-f', '-'],
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: b}\n',
  )
  assert.equal(clientSide.code, 0, clientSide.err)
  assert.equal((await kubectl(['label', 'node', 's1', 'rack=a1'])).code, 0)
  assert.equal((await kubectl(['scale', '-n', 'shop', 'deployment/web', '--replicas=1'])).code, 0)
  const gone = await kubectl(['delete', 'namespace', 'shop', '--timeout=20s'])
  assert.equal(gone.code, 0, gone.err)
})

test('real kubectl makes what it makes by itself, and is told what is not simulated', { skip }, async () => {
  const made: readonly (readonly string[])[] = [
    ['create', 'namespace', 'hand'],
    ['create', 'configmap', 'x', '-n', 'hand', '--from-literal=a=b'],
    ['create', 'secret', 'generic', 's', '-n', 'hand', '--from-literal=k=v'],
    ['create', 'deployment', 'web', '-n', 'hand', '--image=nginx'],
    ['create', 'service', 'clusterip', 'web', '-n', 'hand', '--tcp=80:8080'],
    ['create', 'serviceaccount', 'sa', '-n', 'hand'],
    ['create', 'job', 'j', '-n', 'hand', '--image=busybox', '--', 'date'],
    ['create', 'role', 'r', '-n', 'hand', '--verb=get', '--resource=pods'],
    ['create', 'quota', 'q', '-n', 'hand', '--hard=pods=3'],
    ['annotate', 'configmap', 'x', '-n', 'hand', 'a=b'],
  ]
  for (const words of made) {
    const { code, err } = await kubectl(words)
    assert.equal(code, 0, `${words.join(' ')}: ${err}`)
  }
  const field = async (what: string, path: string) =>
    (await kubectl(['get', what, '-n', 'hand', '-o', `jsonpath={${path}}`])).out
  assert.equal(await field('configmap/x', '.data.a'), 'b')
  assert.equal(await field('secret/s', '.data.k'), 'dg==')
  assert.equal(await field('service/web', '.spec.ports[0].targetPort'), '8080')
  assert.equal(await field('deployment/web', '.spec.template.spec.containers[0].image'), 'nginx')
  // Older ones ask for another document, and say that they found nothing in it.
  const explained = await kubectl(['explain', 'deployment'])
  assert.match(explained.out + explained.err, /simulator keeps no description|find resource/)
  const rolled = await kubectl(['rollout', 'status', '-n', 'hand', 'deployment/web', '--timeout=20s'])
  assert.equal(rolled.code, 0, rolled.err)
  assert.match((await kubectl(['rollout', 'history', '-n', 'hand', 'deployment/web'])).out, /^1 +<none>/m)
  const logs = await kubectl(['logs', '-n', 'hand', 'deployment/web'])
  assert.match(logs.out, /^nginx: started \(simulated\)\n/, logs.err)
  const before = await kubectl(['logs', '-n', 'hand', 'deployment/web', '--previous'])
  assert.match(before.err, /previous terminated container "nginx" in pod "web-\S+" not found/)
  assert.match((await kubectl(['events', '-n', 'hand', '--for', 'deployment/web'])).err, /No events found/)
  assert.match((await kubectl(['get', 'events', '-n', 'hand'])).out, /Scheduled +pod\/web-\S+ +Successfully assigned/)
  assert.match((await kubectl(['exec', '-n', 'hand', 'deployment/web', '--', 'date'])).err, /exec is not simulated/)
  assert.match((await kubectl(['top', 'nodes'])).err, /Metrics API not available|unable to handle the request/)
})
