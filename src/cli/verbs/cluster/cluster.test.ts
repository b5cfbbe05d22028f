import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import type { ClusterOperator, ClusterSurroundings } from '../../../drivers/cluster-port.ts'
import { createK3sDriver } from '../../../drivers/k3s/driver.ts'
import { makeClusterSecrets } from '../../../drivers/k3s/make-secrets.ts'
import { tokenHash } from '../../../k3s/token.ts'
import { readKubeconfig } from '../../../kubernetes/kubeconfig.ts'
import { systemClock } from '../../../lib/clock.ts'
import { DEFAULT_POLICY } from '../../../model/declaration.ts'
import type { Approval, ClusterDeclaration } from '../../../model/estate.ts'
import { NO_REQUESTS, type ObservedCluster } from '../../../model/observed-cluster.ts'
import { Secret } from '../../../model/secret.ts'
import { rolloutId } from '../../../plan/clusters/rollout.ts'
import { clusterSpec, observedCluster } from '../../../plan/clusters/testing/fixture.ts'
import { createMemoryStore } from '../../../store/memory.ts'
import type { Store } from '../../../store/port.ts'
import { openSqliteStore } from '../../../store/sqlite.ts'
import type { Runtime } from '../../runtime.ts'
import { EMPTY_ESTATE, fakeRuntime, planning } from '../../testing/fake-runtime.ts'
import { CliError } from '../../verb.ts'
import { run } from '../cluster.ts'

const CLUSTER: ClusterDeclaration = {
  key: 'Cluster/homelab',
  name: 'homelab',
  estate: 'default',
  spec: clusterSpec('s1 s2 s3'),
  artifacts: [],
  hosts: new Map(),
  policy: DEFAULT_POLICY,
  origin: { file: 'c.yaml', line: 1, column: 1 },
  generation: 'g',
}
const LOADED = { ...EMPTY_ESTATE, estate: { ...EMPTY_ESTATE.estate, clusters: [CLUSTER] } }
const SECRETS = {
  ...makeClusterSecrets({
    cluster: 'homelab',
    firstServer: 's1',
    nowMs: Date.now(),
    randomBytes: (count) => Buffer.alloc(count, 7),
  }),
  formerPasswords: [new Secret('from-before-a-rotation')],
}

let home: string
before(() => {
  home = mkdtempSync(path.join(tmpdir(), 'croft-cluster-'))
})
after(() => rmSync(home, { recursive: true, force: true }))

interface World {
  readonly store: Store
  readonly made?: boolean
  readonly observed?: ObservedCluster
  readonly snapshots?: readonly object[]
  /** The hash of the token that the snapshots' files name. */
  readonly opens?: string
  readonly performed?: string[]
}

function runtimeOf({
  store,
  made = true,
  observed,
  snapshots = [],
  opens,
  performed = [],
}: World): ReturnType<typeof fakeRuntime> {
  const real = createK3sDriver()
  const facts = JSON.stringify({ snapshots })
  const token = JSON.stringify(opens === undefined ? { ok: false, error: 'unknown' } : { ok: true, tokenHash: opens })
  const shell = {
    run: async (argv: readonly string[]) => ({
      code: 0,
      stdout: argv.includes('token-of') ? token : facts,
      stderr: '',
    }),
  } as unknown as NonNullable<ReturnType<ClusterSurroundings['nodes']['get']>>['shell']
  const reach = {
    machine: { exists: 'yes', power: 'on', ours: true },
    lane: 'node-program',
    ...(shell === undefined ? {} : { shell }),
  } as const
  const surroundings: ClusterSurroundings = {
    nodes: new Map([['s1', reach]]),
    requests: NO_REQUESTS,
    remediations: new Map(),
  }
  const deps = {
    clock: systemClock,
    vault: {
      read: async () => (made ? SECRETS : undefined),
      write: async () => {},
      sealed: {
        seal: async () => (made ? 'sealed\n' : undefined),
        sealAnew: async () => undefined,
        key: () => Promise.reject(new Error('none')),
      },
    },
    randomBytes: (count: number) => Buffer.alloc(count, 1),
    openKubernetes: () => ({ send: () => Promise.reject(new Error('nobody')), close: async () => {} }),
    resolveSecret: () => Promise.reject(new Error('none')),
  }
  const driver = {
    connect: () => ({
      observe: async () => observed ?? observedCluster('s1 s2 s3'),
      perform: async () => ({ result: 'done' as const }),
      kubernetes: async () => undefined,
      close: async () => {},
    }),
    operate: (cluster: ClusterDeclaration): ClusterOperator => ({
      ...real.operate(cluster, deps),
      perform: async ({ verb, node }, { nodes }) => {
        performed.push(`${verb} ${node ?? ''}`.trim())
        if (node !== undefined && nodes.get(node)?.shell === undefined && node !== 's2' && node !== 's3')
          return { result: 'not-sent', message: `there is no way into ${node}` }
        return { result: 'done' }
      },
      reached: async () => ({ is: 'yes' }),
    }),
    examine: async () => [],
  }
  const world = planning({} as never)
  const engine = { surroundings: async () => surroundings, close: async () => {} }
  const more: Partial<Runtime> = {
    ...world,
    env: { HOME: home, USER: 'ada' },
    cwd: home,
    load: async () => LOADED,
    openStore: async () => ({ ...store, close: async () => {} }),
    openEngine: async () => engine as never,
    openClusters: async () => ({ driver, deps }),
  }
  return fakeRuntime(more)
}

const OPTIONS = { dir: '.', state: '/nonexistent/croft.db' }

async function requests(store: Store): Promise<unknown> {
  return JSON.parse((await store.getValue('cluster-orders/homelab')) ?? '{}')
}

describe('croft cluster kubeconfig', () => {
  test('prints access that the cluster accepts, before the cluster has ever been asked', async () => {
    const runtime = runtimeOf({ store: createMemoryStore() })
    assert.equal(await run(runtime, ['kubeconfig', 'homelab'], OPTIONS), 0)
    const access = readKubeconfig(runtime.written.out)
    assert.ok('endpoint' in access)
    assert.equal(access.endpoint, 'https://192.168.4.79:6443')
    assert.equal(access.caPem, SECRETS.files.get('server-ca.crt')?.reveal())
  })

  test('merges into the file for its owner alone, without loss, and switches when asked', async () => {
    const file = path.join(home, 'config')
    writeFileSync(file, '# mine\ncurrent-context: work\ncontexts: [{name: work, context: {cluster: a, user: b}}]\n', {
      mode: 0o644,
    })
    const runtime = runtimeOf({ store: createMemoryStore() })
    assert.equal(await run(runtime, ['kubeconfig', 'homelab', 'merge'], { ...OPTIONS, file }), 0)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.match(readFileSync(file, 'utf8'), /# mine/)
    assert.equal(parse(readFileSync(file, 'utf8'))['current-context'], 'work')
    await run(runtime, ['kubeconfig', 'homelab'], { ...OPTIONS, file, switchContext: true })
    assert.equal(parse(readFileSync(file, 'utf8'))['current-context'], 'homelab')
    assert.doesNotMatch(runtime.written.out + runtime.written.err, /PRIVATE KEY|client-key/)
  })

  test('a kubeconfig that is a symbolic link stays one, and the file behind it is renewed', async () => {
    const [file, behind] = [path.join(home, 'link'), path.join(home, 'dotfiles')]
    writeFileSync(behind, '# mine\nclusters: []\n')
    symlinkSync(behind, file)
    const runtime = runtimeOf({ store: createMemoryStore() })
    assert.equal(await run(runtime, ['kubeconfig', 'homelab', 'merge'], { ...OPTIONS, file }), 0)
    assert.ok(lstatSync(file).isSymbolicLink())
    assert.match(readFileSync(behind, 'utf8'), /name: homelab/)
  })

  test('a file that cannot be read whole is left as it is', async () => {
    const file = path.join(home, 'broken')
    writeFileSync(file, 'clusters: [')
    const runtime = runtimeOf({ store: createMemoryStore() })
    await assert.rejects(run(runtime, ['kubeconfig', 'homelab', 'merge'], { ...OPTIONS, file }), /was not changed/)
    assert.equal(readFileSync(file, 'utf8'), 'clusters: [')
  })

  test('says what to do for a cluster that is not there yet, and refuses a life without end', async () => {
    await assert.rejects(
      run(runtimeOf({ store: createMemoryStore(), made: false }), ['kubeconfig', 'homelab'], OPTIONS),
      /croft apply/,
    )
    await assert.rejects(
      run(runtimeOf({ store: createMemoryStore() }), ['kubeconfig', 'homelab'], { ...OPTIONS, ttl: '99999h' }),
      /--ttl/,
    )
  })
})

describe('requests', () => {
  test('[A37] pause, abort and resume are kept for whoever is at work', async () => {
    const store = createMemoryStore()
    const runtime = runtimeOf({ store })
    await run(runtime, ['upgrade', 'homelab'], { ...OPTIONS, pause: true })
    assert.deepEqual(await requests(store), { ...NO_REQUESTS, rolloutPaused: true })
    await run(runtime, ['upgrade'], { ...OPTIONS, abort: true })
    assert.equal(((await requests(store)) as { rolloutAborted: string }).rolloutAborted, rolloutId(CLUSTER.spec))
    await run(runtime, ['upgrade', 'homelab'], { ...OPTIONS, resume: true })
    const after = (await requests(store)) as Record<string, unknown>
    assert.deepEqual([after.rolloutPaused, after.rolloutAborted, typeof after.resumedMs], [false, undefined, 'number'])
    await assert.rejects(run(runtime, ['upgrade', 'homelab'], { ...OPTIONS, pause: true, abort: true }), /Say one of/)
  })

  test('a request does not end the time of the controller that is at work', async () => {
    const file = path.join(home, 'croft.db')
    const controller = await openSqliteStore(file)
    const epoch = await controller.beginEpoch()
    const own = await openSqliteStore(file)
    await run(runtimeOf({ store: own }), ['replace', 's2'], OPTIONS)
    await controller.putValue(epoch, 'x', 'still here')
    assert.match((await controller.getValue('cluster-orders/homelab')) ?? '', /"node":"s2"/)
    await Promise.all([controller.close(), own.close()])
  })

  test('replace and remove-member name what they mean, or are refused', async () => {
    const store = createMemoryStore()
    const runtime = runtimeOf({ store })
    await run(runtime, ['remove-member', '9a1e48b3d305ad3b'], OPTIONS)
    assert.deepEqual(((await requests(store)) as { removeMembers: string[] }).removeMembers, ['9a1e48b3d305ad3b'])
    await assert.rejects(run(runtime, ['remove-member', 'homelab', '$(id)'], OPTIONS), CliError)
    await assert.rejects(run(runtime, ['replace', 'homelab', 'nobody'], OPTIONS), /not a node of homelab/)
    await assert.rejects(run(runtime, ['dance', 'homelab'], OPTIONS), /no croft cluster dance/)
    const audit = await store.audit({})
    assert.deepEqual(
      audit?.map(({ what, actor }) => [what, actor]),
      [['remove-member', 'cli:ada']],
    )
  })
})

describe('croft cluster forget', () => {
  const silent = { kube: { ready: 'no' as const, readySinceMs: 1_790_000_000_000 }, k3s: 'unknown' as const }
  const seen = (s4 = silent): ObservedCluster => {
    const all = observedCluster('s1 s2 s3 s4', { s4 })
    const members = all.members === 'unknown' ? [] : all.members
    return { ...all, members: members.map((one) => (one.node === 's4' ? { ...one, up: 'unknown' as const } : one)) }
  }

  test('says what is believed, asks, and keeps the order with what it names', async () => {
    const store = createMemoryStore()
    const runtime = runtimeOf({ store, observed: seen() })
    await assert.rejects(run(runtime, ['forget', 'homelab', 's4'], OPTIONS), /needs a yes/)
    assert.equal(((await requests(store)) as { forget?: unknown }).forget, undefined)
    assert.equal(await run(runtime, ['forget', 'homelab', 's4'], { ...OPTIONS, yes: true }), 0)
    assert.match(
      runtime.written.out,
      /NotReady since 2026-09.*\n.*s4-4a13e2cb up.*\n.*does not answer.*\n.*3 of 4 voters are up/,
    )
    const { forget } = (await requests(store)) as { forget: readonly Record<string, unknown>[] }
    assert.deepEqual(
      forget.map(({ node, member, createdMs }) => [node, member, typeof createdMs]),
      [['s4', 'm-s4', 'number']],
    )
  })

  const refused: readonly [string, string, ObservedCluster, RegExp][] = [
    [
      'one that Git declares',
      's3',
      observedCluster('s1 s2 s3', { s3: silent }),
      /is not silent: its etcd answers|Git declares s3/,
    ],
    ['one whose machine answers', 's4', observedCluster('s1 s2 s3 s4'), /its machine answers croft/],
    [
      'one without a majority of the others',
      's4',
      {
        ...seen(),
        members: (seen().members as NonNullable<Exclude<ObservedCluster['members'], 'unknown'>>).map((one) => ({
          ...one,
          up: one.node === 's1' ? ('yes' as const) : ('unknown' as const),
        })),
      },
      /only 1 of 4 etcd voters would certainly be up/,
    ],
    ['one of a cluster that cannot be asked', 's4', { ...seen(), api: 'unknown' }, /cannot be asked/],
    ['one that is no server', 'a9', seen(), /no server of homelab/],
  ]
  for (const [what, node, observed, why] of refused)
    test(`refuses ${what}`, async () => {
      const store = createMemoryStore()
      await assert.rejects(
        run(runtimeOf({ store, observed }), ['forget', 'homelab', node], { ...OPTIONS, yes: true }),
        why,
      )
      assert.equal(((await requests(store)) as { forget?: unknown }).forget, undefined)
    })
})

describe('croft cluster restore', () => {
  const taken = { name: 'snap-1', path: '/var/lib/rancher/k3s/server/db/snapshots/snap-1' }

  test('[A38] lists every step, does them in order, and the journal has it', async () => {
    const [store, performed] = [createMemoryStore(), [] as string[]]
    const runtime = runtimeOf({ store, performed, snapshots: [taken] })
    assert.equal(
      await run(runtime, ['restore', 'homelab', 'snap-1'], {
        ...OPTIONS,
        presentToken: true,
        yes: true,
        confirm: 'homelab',
      }),
      0,
    )
    assert.match(runtime.written.err, /Done: .*What s1, s2, s3 held before is destroyed/)
    assert.match(runtime.written.out, / 1\. hold all other work/)
    assert.match(runtime.written.out, /start s1 over from snap-1/)
    assert.match(runtime.written.out, /^Plan: 3 to destroy\. Disruption: data-loss \(s1, s2, s3\)\.$/m)
    assert.deepEqual(performed.slice(0, 6), [
      'snapshot s1',
      'stop-k3s s1',
      'stop-k3s s2',
      'stop-k3s s3',
      'write-files s1',
      'restore-snapshot s1',
    ])
    assert.equal(((await requests(store)) as { hold?: unknown }).hold, undefined)
    const journal = await store.audit({})
    assert.match(journal.map(({ what }) => what).join(), /restore of homelab from snap-1/)
    assert.match(journal.map(({ message }) => message).join(), /3 nodes lose their data/)
    const said = journal.map(({ message }) => message).join('\n')
    for (const step of ['stop K3s on s3', 'start s1 over from snap-1', 'join s2 again', 'delete the undeclared Nodes'])
      assert.ok(said.includes(step), `the journal does not list: ${step}`)
  })

  test('--no-snapshot does without a snapshot of what lives', async () => {
    const performed: string[] = []
    const runtime = runtimeOf({ store: createMemoryStore(), performed, snapshots: [taken] })
    const options = { ...OPTIONS, presentToken: true, confirm: 'homelab', snapshot: false }
    assert.equal(await run(runtime, ['restore', 'homelab', 'snap-1'], options), 0)
    assert.equal(performed[0], 'stop-k3s s1')
  })

  test('[F-33] without the token nothing is stopped', async () => {
    const [store, performed] = [createMemoryStore(), [] as string[]]
    const runtime = runtimeOf({ store, performed, snapshots: [taken], opens: '000000000000' })
    assert.equal(await run(runtime, ['restore', 'homelab', 'snap-1'], { ...OPTIONS, yes: true }), 1)
    assert.match(runtime.written.out, /Refused: .*does not have/)
    assert.deepEqual(performed, [])
  })

  test('the file says which token opens it, and a former one is taken without being asked for', async () => {
    for (const [opens, taking] of [
      [SECRETS.password, false],
      [SECRETS.formerPasswords[0], true],
    ] as const) {
      const performed: string[] = []
      const hash = tokenHash(opens?.reveal() ?? '')
      const runtime = runtimeOf({ store: createMemoryStore(), performed, snapshots: [taken], opens: hash })
      assert.equal(
        await run(runtime, ['restore', 'homelab', 'snap-1'], { ...OPTIONS, yes: true, confirm: 'homelab' }),
        0,
      )
      assert.equal(performed.includes('take-password'), taking)
    }
  })

  test('asks first, and only lists when that is all that is wanted', async () => {
    const performed: string[] = []
    const runtime = runtimeOf({ store: createMemoryStore(), performed, snapshots: [taken] })
    const options = { ...OPTIONS, presentToken: true }
    await assert.rejects(run(runtime, ['restore', 'homelab', 'snap-1'], options), /--confirm homelab/)
    assert.equal(await run(runtime, ['restore', 'homelab', 'snap-1'], { ...options, plan: true }), 0)
    assert.deepEqual(performed, [])
    await assert.rejects(run(runtime, ['restore', 'homelab', 'other'], options), /has other/)
  })

  describe('[D-01] a cluster that runs is destroyed by nobody who has not named it', () => {
    const ask = async (more: object, approvals: readonly Approval[] = [], observed?: ObservedCluster) => {
      const performed: string[] = []
      const world = { store: createMemoryStore(), performed, snapshots: [taken] }
      const runtime = runtimeOf(observed === undefined ? world : { ...world, observed })
      const loaded = { ...LOADED, estate: { ...LOADED.estate, approvals } }
      const { ask: answer, ...options } = more as { ask?: string }
      const asked: Partial<Runtime> = answer === undefined ? {} : { interactive: true, ask: async () => answer }
      const words = ['restore', 'homelab', 'snap-1']
      const all = { ...OPTIONS, presentToken: true, ...options }
      const code = await run({ ...runtime, load: async () => loaded, ...asked }, words, all).catch(
        (error: Error) => error,
      )
      return { code: code instanceof Error ? code.message : code, touched: performed.length > 0 }
    }
    const approval = (restores: readonly string[], expiresMs: number): Approval => ({
      name: 'go',
      deletes: [],
      restores,
      expiresMs,
      origin: CLUSTER.origin,
    })
    const later = Date.now() + 3_600_000

    test('--yes alone is refused, and says what is needed', async () => {
      const { code, touched } = await ask({ yes: true })
      assert.match(
        String(code),
        /homelab runs .* --yes is not enough for that: say --confirm homelab, or list .*restores/,
      )
      assert.equal(touched, false)
    })
    test('another name is refused, at the prompt and as an option', async () => {
      assert.deepEqual(await ask({ yes: true, ask: 'yes' }), { code: 1, touched: false })
      const { code, touched } = await ask({ yes: true, confirm: 'homelab-2' })
      assert.match(String(code), /--confirm names homelab-2, and this is homelab/)
      assert.equal(touched, false)
    })
    test('its name, at the prompt or as an option, or an Approval that is still good', async () => {
      assert.deepEqual(await ask({ ask: 'homelab' }), { code: 0, touched: true })
      assert.deepEqual(await ask({ confirm: 'homelab' }), { code: 0, touched: true })
      assert.deepEqual(await ask({ yes: true }, [approval(['Cluster/homelab'], later)]), { code: 0, touched: true })
      assert.equal((await ask({ yes: true }, [approval(['Cluster/homelab'], 1)])).touched, false)
      assert.equal((await ask({ yes: true }, [approval(['Cluster/other'], later)])).touched, false)
    })
    test('a cluster that has lost its majority needs only the yes', async () => {
      const lost = observedCluster('s1 s2 s3', {}, { api: 'no' })
      const members = lost.members === 'unknown' ? [] : lost.members.map((one) => ({ ...one, up: 'no' as const }))
      assert.deepEqual(await ask({ yes: true }, [], { ...lost, members }), { code: 0, touched: true })
    })
  })
})

test('[A58] escrow prints the sealed record and nothing else; where there is none it says when there will be one', async () => {
  const runtime = runtimeOf({ store: createMemoryStore() })
  assert.equal(await run(runtime, ['escrow', 'homelab'], OPTIONS), 0)
  assert.equal(runtime.written.out, 'sealed\n')
  assert.match(runtime.written.err, /escrow\/homelab\.cluster\.age/)
  const none = runtimeOf({ store: createMemoryStore(), made: false })
  await assert.rejects(run(none, ['escrow', 'homelab'], OPTIONS), /made by the first croft apply/)
})

test('[A39] a backup whose token is not kept is shown as unusable', async () => {
  const observed = observedCluster(
    's1 s2 s3',
    {},
    {
      snapshots: [
        { name: 'good', atMs: 2_000, tokenKept: 'yes', tokenHash: 'a' },
        { name: 'bad', atMs: 3_000, tokenKept: 'no', tokenHash: 'ffffffffffff' },
      ],
    },
  )
  const runtime = runtimeOf({ store: createMemoryStore(), observed })
  assert.equal(await run(runtime, ['backup', 'homelab'], OPTIONS), 0)
  assert.match(runtime.written.out, /^bad .*UNUSABLE: the token that it was taken with \(ffffffffffff\) is not kept/m)
  assert.match(runtime.written.out, /^good .*usable: its token is kept/m)
  assert.ok(!existsSync(path.join(home, '.kube')))
})

test('[R20-5] snapshots lists every place with age, size, release, token and drill; the last line is the next command', async () => {
  const store = createMemoryStore()
  const nowMs = Date.now()
  const name = 'etcd-snapshot-s1-1'
  const hash = tokenHash(SECRETS.password.reveal())
  const seen = { name, atMs: nowMs - 26 * 3_600_000, tokenKept: 'yes', tokenHash: hash, release: 'v1.36.3+k3s1' }
  await store.putValue(0, 'cluster-backups/homelab', JSON.stringify([seen]))
  const result = { atMs: nowMs - 3_600_000, snapshot: name, proved: true, message: '' }
  await store.putValue(0, 'cluster-drills/homelab', JSON.stringify({ result }))
  const file = { name, path: `/var/lib/rancher/k3s/server/db/snapshots/${name}`, atMs: seen.atMs, bytes: 2 * 2 ** 20 }
  const runtime = runtimeOf({ store, snapshots: [file], observed: observedCluster('s1', {}, { snapshots: 'unknown' }) })
  assert.equal(await run(runtime, ['snapshots', 'homelab'], OPTIONS), 0)
  assert.match(
    runtime.written.out,
    /^etcd-snapshot-s1-1 +s1 +26h +2\.0Mi +v1\.36\.3\+k3s1 +restored 60m ago +yes: its token is kept$/m,
  )
  assert.match(runtime.written.out, /^croft cluster restore homelab etcd-snapshot-s1-1 --plan .*\n$/m)
  const empty = runtimeOf({ store: createMemoryStore() })
  assert.equal(await run(empty, ['snapshots', 'homelab'], OPTIONS), 0)
  assert.match(empty.written.out, /no snapshot .* croft cluster backup homelab --now/)
})

test('a drill goes to a declared Host that is no node, over its own SSH', async () => {
  const observed = observedCluster(
    's1 s2 s3',
    {},
    { snapshots: [{ name: 'good', atMs: 2_000, tokenKept: 'yes', tokenHash: 'a' }] },
  )
  const performed: string[] = []
  const plain = runtimeOf({
    store: createMemoryStore(),
    observed,
    performed,
    snapshots: [{ name: 'good', path: '/srv/good' }],
  })
  const opened: string[] = []
  const spare = { kind: 'Host', name: 'spare', spec: { ssh: { address: '192.0.2.9', user: 'root', hostKeys: ['k'] } } }
  const runtime = {
    ...plain,
    load: async () => ({ ...LOADED, declarations: [spare] as never }),
    openDrivers: async () =>
      ({
        deps: {
          openShell: ({ address }: { readonly address: string }) => {
            opened.push(address)
            return { close: async () => {} }
          },
        },
      }) as never,
  }
  assert.equal(await run(runtime, ['backup', 'homelab'], { ...OPTIONS, drill: 'spare', yes: true }), 0)
  assert.deepEqual(opened, ['192.0.2.9'])
  assert.ok(performed.includes('restore-snapshot spare'), performed.join(', '))
  await assert.rejects(
    run(runtime, ['backup', 'homelab'], { ...OPTIONS, drill: 'nobody', yes: true }),
    /no Host nobody/,
  )
})
