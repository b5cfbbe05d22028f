// croft's files on a node are a complete set: an undeclared one is deleted, and foreign ones stay.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KUBE_VIP_FILE } from '../../k3s/kube-vip.ts'
import { fileDifference, REGISTRIES_FILE } from '../../k3s/node-files.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import { Secret } from '../../model/secret.ts'
import { clusterSpec } from '../../plan/clusters/testing/fixture.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const VIP = { vip: '10.67.0.99' }
const ANNOUNCED = { ...VIP, kubeVip: { version: 'v1.0.3' } }
const NFS = { schedule: '0 3 * * *', keep: 5, to: { nfs: { server: '10.67.0.50', path: '/backup' } } } as const
const MOUNT = '/etc/systemd/system/croft-backup.mount'

async function settled(lab: DriverLab): Promise<void> {
  let quiet = 0
  for (let round = 0; round < 400 && quiet < 4; round++) {
    await lab.until(() => false, 1).catch(() => undefined)
    quiet = (await lab.look()).decision.steps.length === 0 ? quiet + 1 : 0
  }
}

const paths = (lab: DriverLab, name: string) =>
  [KUBE_VIP_FILE, REGISTRIES_FILE, MOUNT].filter((path) => lab.box(name).machine.files.read(path) !== undefined)

test('what leaves Git leaves the node, with the objects that K3s made of it', async () => {
  const lab = driverLab('s1', { endpoint: ANNOUNCED, backup: NFS, registries: { mirrors: {} } })
  await lab.until(allReady('s1'), 900)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  assert.deepEqual(paths(lab, 's1'), [KUBE_VIP_FILE, REGISTRIES_FILE, MOUNT])
  const daemonSet = '/apis/apps/v1/namespaces/kube-system/daemonsets/kube-vip'
  assert.equal((await lab.call('GET', daemonSet)).status, 200)
  const { backup: _backup, registries: _registries, ...rest } = lab.spec
  lab.spec = { ...rest, endpoint: VIP, allow: { degraded: false, interruption: true } }
  lab.restart()
  await lab.until(() => paths(lab, 's1').length === 0, 3000)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  assert.equal((await lab.call('GET', daemonSet)).status, 404)
})

test('an address that is announced by another release, or no longer, restarts nothing', async () => {
  const lab = driverLab('s1', { endpoint: ANNOUNCED })
  await lab.until(allReady('s1'), 900)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  lab.box('s1').machine.files.write(REGISTRIES_FILE, 'mirrors: {"*": {}}\n')
  lab.done.length = 0
  lab.spec = { ...lab.spec, endpoint: { ...VIP, kubeVip: { version: 'v1.1.0' } } }
  lab.restart()
  await settled(lab)
  assert.match(lab.box('s1').machine.files.text(KUBE_VIP_FILE) ?? '', /kube-vip:v1\.1\.0/)
  lab.spec = { ...lab.spec, endpoint: VIP }
  lab.restart()
  await settled(lab)
  assert.deepEqual(
    lab.done.map(({ step }) => step.verb),
    ['put-files', 'put-files'],
  )
  assert.deepEqual(paths(lab, 's1'), [REGISTRIES_FILE], "a person's registries.yaml stays")
})

test('with several servers the objects go with the last file', async () => {
  const names = ['s1', 's2', 's3']
  const lab = driverLab(names.join(' '), { endpoint: ANNOUNCED })
  await lab.until(allReady('s1 s2 s3'), 900)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  const daemonSet = '/apis/apps/v1/namespaces/kube-system/daemonsets/kube-vip'
  assert.equal((await lab.call('GET', daemonSet)).status, 200)
  lab.done.length = 0
  lab.spec = { ...lab.spec, endpoint: VIP }
  lab.restart()
  const blind = await lab.perform({ verb: 'put-files', node: 's1' })
  assert.match(JSON.stringify(blind), /"NotSeen".*s2 has not said which files it has/)
  await settled(lab)
  assert.deepEqual(
    names.map((name) => paths(lab, name)),
    [[], [], []],
  )
  assert.equal((await lab.call('GET', daemonSet)).status, 404)
  assert.deepEqual(
    lab.done.map(({ step }) => `${step.verb} ${step.node}`),
    names.map((name) => `put-files ${name}`),
  )
})

test('another share is mounted on a server that runs, without a restart', async () => {
  const lab = driverLab('s1', { backup: NFS })
  await lab.until(allReady('s1'), 900)
  const shares = lab.world.k3s.shares
  assert.deepEqual([...shares.keys()], ['10.67.0.50:/backup'])
  lab.done.length = 0
  lab.spec = { ...lab.spec, backup: { ...NFS, to: { nfs: { server: '10.67.0.51', path: '/backup' } } } }
  lab.restart()
  await settled(lab)
  assert.deepEqual([...shares.keys()], ['10.67.0.50:/backup', '10.67.0.51:/backup'])
  assert.deepEqual(
    lab.done.map(({ step }) => step.verb),
    ['put-files'],
  )
})

test('another target in S3 reaches a server that runs, without a restart', async () => {
  const s3 = { endpoint: 'https://s3.example.org', bucket: 'old', credentials: { env: 'ONE' } }
  const lab = driverLab('s1', { backup: { ...NFS, to: { s3 } } })
  ;(lab.deps as { resolveSecret: unknown }).resolveSecret = async () => new Secret('key:secret')
  lab.restart()
  await lab.until(allReady('s1'), 900)
  const manifest = () =>
    lab.box('s1').machine.files.text('/var/lib/rancher/k3s/server/manifests/croft-backup.json') ?? ''
  for (const changed of [{ bucket: 'new' }, { region: 'eu' }, { credentials: { env: 'TWO' } }]) {
    const before = manifest()
    lab.done.length = 0
    const to = { s3: { ...s3, ...changed } }
    lab.spec = { ...lab.spec, backup: { ...NFS, to } }
    lab.restart()
    await settled(lab)
    assert.notEqual(manifest(), before)
    assert.deepEqual(
      lab.done.map(({ step }) => step.verb),
      ['put-files'],
    )
  }
})

describe('the difference', () => {
  const spec = (more: Partial<ClusterSpec> = {}) => clusterSpec('s1 a1', { endpoint: VIP, ...more })
  const server = { role: 'server' } as const
  for (const [what, declared, role, there, put, remove] of [
    ['nothing declared, nothing there', spec(), server, {}, 0, 0],
    ['one too many', spec(), server, { [KUBE_VIP_FILE]: 'x' }, 0, 1],
    ['other text', spec({ endpoint: ANNOUNCED }), server, { [KUBE_VIP_FILE]: 'x' }, 1, 0],
    [
      'a secret one is compared by its presence',
      spec({ registries: { mirrors: {} } }),
      server,
      { [REGISTRIES_FILE]: 'x' },
      0,
      0,
    ],
    [
      'an agent has none of a server',
      spec({ endpoint: ANNOUNCED, backup: NFS }),
      { role: 'agent' } as const,
      { [MOUNT]: 'x' },
      0,
      1,
    ],
  ] as const)
    test(what, () => {
      const difference = fileDifference(declared, role, there)
      assert.deepEqual([difference.put.length, difference.remove.length], [put, remove])
    })
})
