import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { REAL_PACKAGES, TEST_PACKAGES } from '../../scripts/packages.ts'
import { enterTestSystem } from '../../scripts/test-system.ts'
import { at, recordsOf } from '../../src/kubernetes/objects.ts'
import { FINALIZER, providerVms } from '../../src/operator/testing/made-by-crossplane.ts'
import { ofOthers, WITHOUT_EVIDENCE } from '../evidence/of-others.ts'
import { missingForApi } from './kube-apiserver.ts'
import { ACCOUNT, findHelm, installWhole, keepsGranted, lintChart, renderChart } from './operator-account.ts'
import {
  createOperatorGround,
  DEFINITIONS,
  established,
  exited,
  type OperatorGround,
  type RunningReplica,
  until,
  VMS,
} from './operator-ground.ts'
import { acceptExamples, OWN_KINDS } from './operator-kinds.ts'
import { lateValuesOnTheServer } from './operator-late-values.ts'
import { ownApisOnTheServer } from './operator-own-apis.ts'

/* `croft operator` as a process, on a real kube-apiserver with the definitions of the real provider, real kubectl, and the
   simulated Proxmox below. */

enterTestSystem([...TEST_PACKAGES, ...REAL_PACKAGES], { make: true })
const missing = missingForApi()
const ci = !['', '0', 'false'].includes(process.env.CI ?? '')
if (WITHOUT_EVIDENCE !== false)
  process.stdout.write(
    `the tests of croft operator are not run: they read other people's definitions, and CROFT_EVIDENCE is not set\n`,
  )
else if (missing === undefined) run()
else {
  process.stdout.write(`the tests of croft operator ${ci ? 'could not be run' : 'are skipped'}: ${missing}\n`)
  if (ci) process.exitCode = 1
}

function run(): void {
  let ground: OperatorGround
  let replica: RunningReplica
  /** The file with what namespaces may name, as the chart makes it. */
  let grants: string | undefined
  const vms = providerVms(50, ['fun-bedbug', 'pumped-piglet', 'still-fawn'])
  const [changed, paused, observed, deleted, orphaned, contested] = vms.map(({ name }) => name)
  const object = (name = '') => ground.get(`${VMS}/${name}`)
  const objects = () => Promise.all(vms.map(({ name }) => object(name)))
  const idOf = (name = '') => vms.find((vm) => vm.name === name)?.vmid ?? 0
  const column = (name = '') => ground.kubectl('get', 'environmentvm', name, '--no-headers').trim().split(/\s+/)
  const reasonOf = async (name: string | undefined, type: string) =>
    recordsOf(at(await object(name), 'status', 'conditions')).find((one) => one.type === type)?.reason
  const startsOnBoot = async (name?: string) => (await ground.guests()).get(idOf(name))?.onboot === '1'
  const writesFrom = async (start: number) => (await ground.writes()).slice(start)

  before(async () => {
    ground = await createOperatorGround(ofOthers('crossplane-crds'))
    for (const vm of vms) await ground.hand(vm)
  })
  after(() => ground?.stop())

  test('[J-18] fifty VMs that Crossplane made are taken over without one write to Proxmox, nor to their objects', async () => {
    const before = await objects()
    replica = ground.operator('one')
    const looked = ({ name }: (typeof vms)[number]) => replica.output().includes(`EnvironmentVM/${name} Ready`)
    await until('it has looked at all of them', () => vms.every(looked), replica)
    await until('it has told so', () => ground.kubectl('get', 'events').includes(vms.at(-1)?.name ?? ''))
    assert.deepEqual(await ground.writes(), [])
    assert.deepEqual(await objects(), before, 'to the resourceVersion')
    const [head, ...rows] = ground.kubectl('get', 'environmentvm').trim().split('\n')
    assert.deepEqual(head?.trim().split(/\s+/), ['NAME', 'SYNCED', 'READY', 'EXTERNAL-NAME', 'AGE'])
    assert.equal(rows.length, 50)
    for (const row of rows) assert.match(row, /^node-(\d+) +True +True +\1 /)
    ground.kubectl('wait', '--for=condition=Ready', 'environmentvm', '--all', '--timeout=200s')
    assert.match(
      ground.kubectl('describe', 'environmentvm', changed ?? ''),
      /Normal +Ready .* VM 2001 on fun-bedbug is running/,
    )
  })

  test('a restart of the API server costs nothing, and the next change is seen', async () => {
    const before = await objects()
    await ground.api.restart()
    ground.kubectl(
      'patch',
      'environmentvm',
      changed ?? '',
      '--type=merge',
      '-p',
      '{"spec":{"forProvider":{"description":"by kubectl"}}}',
    )
    await until('it is written', async () => (await ground.writes()).length > 0, replica)
    await until('it says so', () => replica.child.exitCode !== null || column(changed)[1] === 'True', replica)
    const written = await ground.writes()
    assert.ok(
      written.every(({ path }) => path.includes('/2001/')),
      JSON.stringify(written),
    )
    assert.match((await ground.guests()).get(2001)?.description ?? '', /by kubectl/)
    assert.deepEqual((await objects()).slice(1), before.slice(1))
    assert.equal(replica.child.exitCode, null, replica.output())
  })

  test('paused objects and those that are only observed are left alone', async () => {
    const start = (await ground.writes()).length
    ground.kubectl('annotate', 'environmentvm', paused ?? '', 'crossplane.io/paused=true')
    ground.kubectl(
      'patch',
      'environmentvm',
      observed ?? '',
      '--type=merge',
      '-p',
      '{"spec":{"managementPolicies":["Observe"]}}',
    )
    await until('it is paused', async () => (await reasonOf(paused, 'Synced')) === 'ReconcilePaused', replica)
    for (const name of [paused, observed, changed])
      ground.kubectl(
        'patch',
        'environmentvm',
        name ?? '',
        '--type=merge',
        '-p',
        '{"spec":{"forProvider":{"onBoot":false}}}',
      )
    await until('the third is written', async () => !(await startsOnBoot(changed)), replica)
    assert.ok((await writesFrom(start)).every(({ path }) => path.includes(`/${idOf(changed)}/`)))
    ground.kubectl('annotate', 'environmentvm', paused ?? '', 'crossplane.io/paused-')
    await until('it goes on', async () => !(await startsOnBoot(paused)), replica)
    await until('it says so', async () => (await reasonOf(paused, 'Synced')) === 'ReconcileSuccess', replica)
    assert.equal(await startsOnBoot(observed), true)
  })

  test('kubectl delete: Delete takes the VM along, Orphan leaves it, and the object goes after that', async () => {
    ground.kubectl(
      'patch',
      'environmentvm',
      orphaned ?? '',
      '--type=merge',
      '-p',
      '{"spec":{"deletionPolicy":"Orphan"}}',
    )
    ground.kubectl('delete', 'environmentvm', orphaned ?? '', deleted ?? '', '--timeout=200s')
    const left = await ground.guests()
    assert.equal(left.has(idOf(deleted)), false)
    assert.equal(left.has(idOf(orphaned)), true)
    assert.equal(await object(deleted), undefined)
    assert.equal(left.size, 51, 'and no other guest')
  })

  test('a new object becomes a VM with an external name, and one that croft refuses says why', async () => {
    const fresh = (name: string, fields: object) => ({
      apiVersion: 'virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1',
      kind: 'EnvironmentVM',
      metadata: { name },
      spec: {
        forProvider: {
          nodeName: 'fun-bedbug',
          name,
          started: false,
          cpu: [{ cores: 1 }],
          memory: [{ dedicated: 512 }],
          ...fields,
        },
        providerConfigRef: { name: 'default' },
      },
    })
    for (const body of [fresh('fresh', {}), fresh('refused', { cpu: [{ cores: 1, affinity: 'all' }] })]) {
      const made = await ground.client.create(VMS, body, 'make it')
      assert.equal(made.is, 'answer', JSON.stringify(made))
    }
    await until('it is refused', async () => (await reasonOf('refused', 'Synced')) === 'ReconcileError', replica)
    ground.kubectl('wait', '--for=condition=Ready', 'environmentvm/fresh', '--timeout=200s')
    const made = await object('fresh')
    assert.deepEqual(at(made, 'metadata', 'finalizers'), [FINALIZER])
    const id = Number(at(made, 'metadata', 'annotations', 'crossplane.io/external-name'))
    assert.equal((await ground.guests()).get(id)?.name, 'fresh')
    assert.match(ground.kubectl('describe', 'environmentvm', 'refused'), /cpu\.affinity is "all"/)
    // Nothing was made for it, so nothing keeps it.
    ground.kubectl('delete', 'environmentvm', 'refused', '--timeout=200s')
  })

  test("croft's kinds are definitions that the server takes, with columns, category and rules", async () => {
    const words = [...process.execArgv, join(import.meta.dirname, '../../src/main.ts'), 'schema', '--crds']
    const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    writeFileSync(join(ground.folder, 'crds.yaml'), stdout)
    ground.kubectl('apply', '--server-side', '-f', join(ground.folder, 'crds.yaml'))
    await established(
      ground.client,
      OWN_KINDS.map(({ plural }) => `${plural}.croft.dev`),
    )
    const seen = await acceptExamples(ground)
    assert.deepEqual(
      OWN_KINDS.map(({ kind }) => kind).filter((kind) => !seen.has(kind)),
      [],
    )
    // kubectl keeps what a server offers for ten minutes.
    rmSync(join(ground.folder, 'kube'), { recursive: true, force: true })
    assert.match(ground.kubectl('get', 'croft', '-n', 'examples'), /^machine\.croft\.dev\/web-1/m)
    const [head] = ground.kubectl('get', 'm', '-n', 'examples').split('\n')
    assert.deepEqual(head?.trim().split(/\s+/), ['NAME', 'SYNCED', 'READY', 'REASON', 'AGE'])
    const token = { env: 'TOKEN', file: '/etc/token' }
    const both = await ground.client.create(
      '/apis/croft.dev/v1alpha1/namespaces/examples/proxmoxes',
      {
        apiVersion: 'croft.dev/v1alpha1',
        kind: 'Proxmox',
        metadata: { name: 'both' },
        spec: { endpoint: 'https://127.0.0.1:8006', token },
      },
      'make it',
    )
    assert.ok(both.is === 'error' && both.status === 422, JSON.stringify(both))
    assert.match(both.refusal.message, /one of env, file, .* and secretRef/)
  })

  test("croft's own kinds are reconciled, and a Proxmox object takes the place of the ProviderConfig without a write", async () => {
    const start = (await ground.writes()).length
    await ground.own('Proxmox', 'default', {
      endpoint: ground.endpoint,
      fingerprint: ground.fingerprint,
      token: { secretRef: { name: 'proxmox-token', key: 'token' } },
    })
    await ground.own('ProxmoxPool', 'web', { connection: 'default', comment: 'by croft' })
    await until(
      'the pool is there',
      async () => /True +True/.test(ground.kubectl('get', 'proxmoxpools', '-n', 'croft-system')),
      replica,
    )
    const written = await writesFrom(start)
    assert.deepEqual(
      written.map(({ method, path }) => `${method} ${path.replace(/.*(?=\/pools)/, '')}`),
      ['POST /pools'],
    )
    ground.kubectl('wait', '--for=condition=Ready', 'proxmox/default', '-n', 'croft-system', '--timeout=200s')
    ground.kubectl('delete', 'proxmoxpool', 'web', '-n', 'croft-system', '--timeout=200s')
    assert.equal((await writesFrom(start)).length, 2)
  })

  test('what the chart renders is taken, and gives its account the rights that it needs and no more', async (t) => {
    const helmed = findHelm(ground)
    if (helmed === undefined) return t.diagnostic('there is no helm here')
    lintChart(helmed)
    const granted = ['--set', 'grants.team-a.kinds={Machine}', '--set', 'grants.team-a.hosts={fun-bedbug}']
    ground.kubectl('create', 'namespace', 'team-a')
    const [plain, whole] = [[], ['--set', 'crossplane.enabled=true', ...granted]].map((more) =>
      renderChart(helmed, ...more),
    )
    assert.doesNotMatch(plain ?? '', /crossplane/)
    const file = join(ground.folder, 'chart.yaml')
    writeFileSync(file, whole ?? '')
    ground.kubectl('label', 'namespace', 'croft-system', 'pod-security.kubernetes.io/enforce=restricted')
    ground.kubectl('apply', '-f', file)
    const may = async (verb: string, path: string, namespace?: string) => {
      const [group = '', resource = '', subresource = ''] = path.split('/')
      const attributes = { verb, group, resource, subresource, ...(namespace === undefined ? {} : { namespace }) }
      const asked = await ground.client.create(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        { spec: { user: 'system:serviceaccount:croft-system:croft', resourceAttributes: attributes } },
        'ask',
      )
      return asked.is === 'answer' && at(asked.value, 'status', 'allowed') === true
    }
    const vm = 'virtualenvironmentvm.proxmoxbpg.crossplane.io/environmentvms'
    for (const verb of ['get', 'list', 'watch', 'patch']) assert.equal(await may(verb, vm), true, verb)
    assert.equal(await may('patch', `${vm}/status`), true)
    assert.equal(await may('delete', vm), false)
    assert.equal(await may('patch', 'croft.dev/machines/status', 'croft-system'), true)
    assert.equal(await may('get', 'croft.dev/machines', 'examples'), false)
    assert.equal(await may('get', '/secrets', 'crossplane-system'), true)
    assert.equal(await may('list', '/secrets', 'crossplane-system'), false)
    assert.equal(await may('get', '/secrets', 'examples'), false)
    assert.equal(await may('create', '/events', 'default'), true)
    assert.equal(await may('create', '/pods', 'croft-system'), false)
    assert.equal(await may('patch', '/secrets', 'croft-system'), true)
    assert.equal(await may('list', '/secrets', 'croft-system'), false)
    assert.equal(await may('patch', '/secrets', 'crossplane-system'), false)
    for (const verb of ['get', 'list', 'watch', 'patch'])
      assert.equal(await may(verb, 'croft.dev/machines', 'team-a'), true, verb)
    assert.equal(await may('patch', 'croft.dev/machines/status', 'team-a'), true)
    assert.equal(await may('get', '/secrets', 'team-a'), true)
    assert.equal(await may('get', '/namespaces', 'team-a'), true)
    for (const [verb, path] of [
      ['delete', 'croft.dev/machines'],
      ['get', 'croft.dev/hosts'],
      ['list', '/secrets'],
      ['patch', '/secrets'],
      ['get', '/configmaps'],
    ] as const)
      assert.equal(await may(verb, path, 'team-a'), false, `${verb} ${path}`)
  })

  test('croft does all of it with the rights of the chart: what is there is taken over, and a granted namespace is kept', async (t) => {
    const helmed = findHelm(ground)
    if (helmed === undefined) return t.diagnostic('there is no helm here')
    grants = installWhole(ground, helmed)
    assert.equal(await replica.end(), 0, replica.output())
    const start = (await ground.writes()).length
    replica = ground.operator('one', '--grants', grants)
    await until('it works', () => replica.output().includes('one works on ProviderConfig/default'), replica)
    const before = await startsOnBoot(changed)
    const patch = JSON.stringify({ spec: { forProvider: { onBoot: !before } } })
    ground.kubectl('patch', 'environmentvm', changed ?? '', '--type=merge', '-p', patch)
    await until('it is written', async () => (await startsOnBoot(changed)) !== before, replica)
    assert.equal((await writesFrom(start)).length, 1, 'taking over writes nothing')
    await keepsGranted(ground, replica)
    assert.deepEqual(ground.api.refused(ACCOUNT), [])
  })

  test('[F-20] a replica that is paused loses its shards to the next and cannot write when it wakes up', async () => {
    const second = ground.operator('two')
    await until('it has arrived', () => second.output().includes('two works on'), second)
    const start = (await ground.writes()).length
    replica.child.kill('SIGSTOP')
    await until('the second has it', () => second.output().includes('two works on ProviderConfig/default'), second)
    const boot = (onBoot: boolean) => {
      const patch = JSON.stringify({ spec: { forProvider: { onBoot } } })
      ground.kubectl('patch', 'environmentvm', contested ?? '', '--type=merge', '-p', patch)
    }
    boot(false)
    await until('it is written', async () => !(await startsOnBoot(contested)), second)
    boot(true)
    replica.child.kill('SIGCONT')
    await until('the second writes', async () => await startsOnBoot(contested), second)
    await until('it knows', () => replica.output().includes('no longer works on ProviderConfig/default'), replica)
    assert.equal((await writesFrom(start)).length, 2, 'each change once')
    assert.equal(await replica.end(), 0, replica.output())
    replica = second
  })

  test('[F-20] a replica that is killed is replaced, and one that is stopped gives its Leases back', async () => {
    const third = ground.operator('three')
    await until('it has arrived', () => third.output().includes('three works on'), third)
    replica.child.kill('SIGKILL')
    await exited(replica.child)
    const killedMs = Date.now()
    await until('the third has it', () => third.output().includes('three works on ProviderConfig/default'), third)
    console.info(`  a killed replica was replaced after ${((Date.now() - killedMs) / 1000).toFixed(1)} s`)
    assert.equal(await third.end(), 0, third.output())
    const leases = await ground.get('/apis/coordination.k8s.io/v1/namespaces/croft-system/leases')
    // What the killed one was called stays until it is forgotten.
    const shards = recordsOf(leases?.items).filter((lease) => at(lease, 'metadata', 'annotations') !== undefined)
    assert.ok(shards.length > 1)
    for (const lease of shards) {
      assert.equal(at(lease, 'spec', 'holderIdentity') ?? '', '')
      assert.ok(Number(at(lease, 'spec', 'leaseTransitions')) > 0)
    }
  })

  ownApisOnTheServer(() => ground)
  lateValuesOnTheServer(() => ({ ground, ...(grants === undefined ? {} : { grants }) }))

  test('[F-09] a definition that is deleted takes no VM along; objects that are orphaned go, and then the definition', async () => {
    const last = ground.operator('four')
    await until('it works', () => last.output().includes('four works on ProviderConfig/default'), last)
    const [start, before] = [(await ground.writes()).length, (await ground.guests()).size]
    const definition = 'environmentvms.virtualenvironmentvm.proxmoxbpg.crossplane.io'
    ground.kubectl('delete', 'crd', definition, '--wait=false')
    await until('it is held', async () => (await reasonOf(contested, 'Synced')) === 'DeletionHeld', last)
    // The server marks the objects of the definition one after the other.
    const marked = async () => {
      const items = recordsOf((await ground.get(VMS))?.items)
      return items.length > 0 && items.every((one) => at(one, 'metadata', 'deletionTimestamp') !== undefined)
    }
    await until('every object is marked', marked, last)
    for (const one of recordsOf((await ground.get(VMS))?.items)) {
      const name = String(at(one, 'metadata', 'name'))
      ground.kubectl('patch', 'environmentvm', name, '--type=merge', '-p', '{"spec":{"deletionPolicy":"Orphan"}}')
    }
    const isGone = async () => {
      // The server closes connections when it serves other kinds than before.
      const got = await ground.client.get(`${DEFINITIONS}/${definition}`)
      return got.is === 'error' && got.status === 404
    }
    await until('it is gone', isGone, last)
    assert.equal((await ground.guests()).size, before)
    assert.deepEqual(await writesFrom(start), [])
    assert.equal(await last.end(), 0, last.output())
    assert.deepEqual(ground.api.refused(ACCOUNT), [], 'nothing of all this was refused to the account of the chart')
  })
}
