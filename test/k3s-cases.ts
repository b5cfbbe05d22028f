import assert from 'node:assert/strict'
import { NODE_PROGRAM, type NodeFacts } from '../src/k3s/node-program.ts'
import { NODE_PROGRAM_TEXT } from '../src/k3s/programs.ts'
import { tokenHash } from '../src/k3s/token.ts'

/** Computers with systemd and K3s in /usr/local/bin, simulated or real. K3s does not run on them at first. */
export interface K3sComputers {
  readonly version: string
  address(host: Host): string
  /** Runs a program as root to its end; what it printed on both streams. */
  run(host: Host, argv: readonly string[]): Promise<{ readonly code: number; readonly out: string }>
  write(host: Host, path: string, text: string): Promise<void>
  /** Undefined: there is no such file. */
  read(host: Host, path: string): Promise<string | undefined>
  /** Writes config.yaml and starts the service; does not wait until K3s is up. */
  start(host: Host, role: 'server' | 'agent', config: Config): Promise<void>
  stop(host: Host): Promise<void>
  /** What K3s logged since it was started last. */
  log(host: Host): Promise<string>
  /** As if K3s had never run there; its program stays. */
  clear(host: Host): Promise<void>
  wait(ms: number): Promise<void>
}

export type Host = 'first' | 'second'
export type Config = Readonly<Record<string, unknown>>

/** One operation and what K3s answers. They run in this order: each begins where the one before ended. */
export interface K3sCase {
  readonly name: string
  run(computers: K3sComputers): Promise<void>
}

const DATA = '/var/lib/rancher/k3s'
const CONFIG = '/etc/rancher/k3s'
const PASSWORD = 'c0ffee00c0ffee00c0ffee00c0ffee00'
const AGENT_PASSWORD = 'a6e47000a6e47000a6e47000a6e47000'
const COMMON = { token: PASSWORD, 'agent-token': AGENT_PASSWORD, 'secrets-encryption': true }

const join = (computers: K3sComputers): Config => ({
  ...COMMON,
  server: `https://${computers.address('first')}:6443`,
  'node-name': 'second',
})

export const K3S_CASES: readonly K3sCase[] = [
  {
    name: '--version begins with the name of the file that was called',
    async run(computers) {
      const { code, out } = await computers.run('first', ['/usr/local/bin/k3s', '--version'])
      assert.equal(code, 0, out)
      assert.match(out, /^k3s version v\d+\.\d+\.\d+\+k3s\d+ \(\w+\)\ngo version go\d/)
      assert.ok(out.includes(` ${computers.version} `), out)
      await computers.run('first', ['cp', '/usr/local/bin/k3s', '/usr/local/bin/.k3s.croft-new'])
      const copy = await computers.run('first', ['/usr/local/bin/.k3s.croft-new', '--version'])
      assert.match(copy.out, /^\.k3s\.croft-new version v/)
      await computers.run('first', ['rm', '-f', '/usr/local/bin/.k3s.croft-new'])
    },
  },
  {
    name: 'a restore onto a machine without data looks at the token itself, not at token-file',
    async run(computers) {
      await computers.write('second', `${CONFIG}/password`, `${PASSWORD}\n`)
      await computers.write('second', `${CONFIG}/config.yaml`, `token-file: ${CONFIG}/password\n`)
      const { code, out } = await computers.run('second', [
        '/usr/local/bin/k3s',
        'server',
        '--cluster-reset',
        '--cluster-reset-restore-path=/no/such/snapshot',
      ])
      assert.equal(code, 1, out)
      assert.match(out, /server\/token does not exist, please pass --token to complete the restoration/)
      await computers.clear('second')
    },
  },
  {
    name: 'config.yaml.d wins over config.yaml; a server skips flags that it does not know',
    async run(computers) {
      await computers.write('first', `${CONFIG}/config.yaml.d/10-name.yaml`, 'node-name: first\n')
      const config = { ...COMMON, 'cluster-init': true, 'node-name': 'wrong', 'no-such-flag': 'x' }
      await computers.start('first', 'server', config)
      await untilReady(computers, 'first', 'first')
      assert.match(await computers.log('first'), /Unknown flag --no-such-flag found in config\.yaml, skipping/)
    },
  },
  {
    name: 'the server writes its tokens in the full form',
    async run(computers) {
      const read = async (name: string) => (await computers.read('first', `${DATA}/server/${name}`)) ?? ''
      assert.match(await read('token'), new RegExp(`^K10[0-9a-f]{64}::server:${PASSWORD}\n$`))
      assert.equal(await read('node-token'), await read('token'))
      assert.match(await read('agent-token'), new RegExp(`^K10[0-9a-f]{64}::node:${AGENT_PASSWORD}\n$`))
      const users = (await read('cred/passwd')).split('\n').map((line) => line.split(',').slice(0, 2).join())
      assert.ok(users.includes(`${PASSWORD},server`) && users.includes(`${AGENT_PASSWORD},node`), users.join(' '))
    },
  },
  {
    name: 'secrets-encrypt status and certificate check',
    async run(computers) {
      const status = await computers.run('first', ['/usr/local/bin/k3s', 'secrets-encrypt', 'status'])
      assert.equal(status.code, 0, status.out)
      assert.match(
        status.out,
        /Encryption Status: Enabled\nCurrent Rotation Stage: start\nServer Encryption Hashes: All/,
      )
      assert.match(status.out, /^ \* +AES-CBC +aescbckey$/m)
      const check = await computers.run('first', ['/usr/local/bin/k3s', 'certificate', 'check'])
      assert.equal(check.code, 0, check.out)
      assert.match(check.out, /Server detected, checking agent and server certificates/)
      assert.match(check.out, /client-kubelet\.crt: certificate system:node:first \(ClientAuth\) is ok, expires at/)
    },
  },
  {
    name: 'a snapshot has the name of its node and the time behind its own, and is listed with its place',
    async run(computers) {
      const saved = await computers.run('first', ['/usr/local/bin/k3s', 'etcd-snapshot', 'save', '--name', 'case'])
      assert.equal(saved.code, 0, saved.out)
      assert.match(saved.out, /Snapshot case-first-\d{10} saved\./)
      const name = /Snapshot (case-first-\d+) saved/.exec(saved.out)?.[1] ?? ''
      const { out } = await computers.run('first', ['/usr/local/bin/k3s', 'etcd-snapshot', 'list'])
      assert.match(out, /^Name +Location +Size +Created$/m)
      const place = `file://${DATA}/server/db/snapshots/${name}`
      const row = out.split('\n').find((line) => line.startsWith(`${name} `)) ?? ''
      assert.match(row, /^\S+ +\S+ +\d+ +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, out)
      assert.ok(row.includes(` ${place} `), row)
    },
  },
  {
    name: 'a snapshot has the hash of the token that opens it',
    async run(computers) {
      const { out } = await computers.run('first', ['ls', `${DATA}/server/db/snapshots`])
      const file = `${DATA}/server/db/snapshots/${out.trim().split('\n')[0] ?? ''}`
      await computers.write('first', '/srv/empty', '')
      const answer = await ask(computers, 'first', 'token-of', file)
      assert.deepEqual(answer, { ok: true, tokenHash: tokenHash(PASSWORD) })
      assert.equal((await ask(computers, 'first', 'token-of', '/srv/empty')).ok, false)
    },
  },
  {
    name: 'a server with another password is not let in',
    run: (computers) =>
      refused(computers, 'server', { ...join(computers), token: 'deadbeefdeadbeefdeadbeefdeadbeef' }, [
        'failed to bootstrap cluster data: not authorized',
      ]),
  },
  {
    name: 'a server with the hash of another CA is not let in',
    run: (computers) =>
      refused(computers, 'server', { ...join(computers), token: `K10${'0'.repeat(64)}::server:${PASSWORD}` }, [
        'token CA hash does not match the Cluster CA certificate hash: 0000',
      ]),
  },
  {
    name: 'a server with other critical flags is not let in, and the flag is named',
    run: (computers) =>
      refused(computers, 'server', { ...join(computers), 'cluster-cidr': '10.99.0.0/16' }, [
        'critical configuration mismatched: ClusterIPRange',
        'critical configuration value mismatch between servers',
      ]),
  },
  {
    name: 'an agent needs a token and a server, and does not skip flags that it does not know',
    async run(computers) {
      const server = `https://${computers.address('first')}:6443`
      await refused(computers, 'agent', { server }, ['--token is required'])
      await refused(computers, 'agent', { token: PASSWORD }, ['--server is required'])
      await refused(computers, 'agent', { server, token: PASSWORD, 'cluster-init': true }, [
        'flag provided but not defined: -cluster-init',
      ])
    },
  },
  {
    name: 'a server joins, and a stop leaves its data',
    async run(computers) {
      await computers.start('second', 'server', join(computers))
      await untilReady(computers, 'second', 'first', 'second')
      await computers.stop('second')
      assert.match((await computers.read('second', `${DATA}/server/db/etcd/name`)) ?? '', /^second-[0-9a-f]{8}/)
      assert.match((await computers.read('second', `${DATA}/server/token`)) ?? '', /^K10/)
    },
  },
  {
    name: 'a file that is newer than what the datastore has of it ends every start, until it is removed',
    async run(computers) {
      const passwd = `${DATA}/server/cred/passwd`
      const before = (await computers.read('second', passwd)) ?? ''
      // Less than three seconds count as one moment.
      await computers.wait(5000)
      await computers.write('second', passwd, `${before}deadbeef,somebody,somebody,k3s:agent\n`)
      await computers.start('second', 'server', join(computers))
      await untilLogged(computers, 'second', [
        `${passwd} newer than datastore and could cause a cluster outage. Remove the file(s) from disk and restart to be recreated from datastore.`,
      ])
      await computers.stop('second')
      await computers.run('second', ['rm', '-f', passwd])
      await computers.start('second', 'server', join(computers))
      await untilReady(computers, 'second', 'first', 'second')
      const users = (text: string) => text.trim().split('\n').sort().join('\n')
      assert.equal(users((await computers.read('second', passwd)) ?? ''), users(before))
    },
  },
  {
    name: 'every server lists the same members of etcd, and which of them it is itself',
    async run(computers) {
      const [first, second] = [await members(computers, 'first'), await members(computers, 'second')]
      const voters = first.members.map(({ name, learner }) => `${name.replace(/-[0-9a-f]{8}$/, '')} ${learner}`)
      assert.deepEqual(voters.sort(), ['first false', 'second false'])
      const ids = (etcd: Etcd) => etcd.members.map(({ id }) => id).sort()
      assert.deepEqual(ids(second), ids(first))
      const selves = [first.self ?? '', second.self ?? '']
      assert.deepEqual([...selves].sort(), ids(first))
      assert.equal(first.leader, second.leader)
      assert.ok(selves.includes(first.leader ?? 'none'), first.leader)
      for (const { id } of first.members) assert.match(id, /^[0-9a-f]{1,16}$/)
    },
  },
  {
    name: 'a member is removed from etcd, and a wipe leaves nothing of K3s but its program, volumes and snapshots',
    async run(computers) {
      const gone = (await members(computers, 'second')).self ?? ''
      // Before its server stops: of two members one alone decides nothing.
      let removed: Answer = {}
      for (let waited = 0; removed.ok !== true && waited < 60; waited++) {
        // It refuses while a member has been connected for less than five seconds.
        if (waited > 0) await computers.wait(2000)
        removed = await ask(computers, 'first', 'remove-member', gone)
      }
      assert.deepEqual(removed, { ok: true })
      const left = await members(computers, 'first')
      assert.deepEqual(
        left.members.map(({ id }) => id),
        [left.self],
      )
      assert.deepEqual(await ask(computers, 'second', 'wipe'), { ok: true })
      let facts: Answer = {}
      for (let waited = 0; waited < 60; waited++) {
        facts = await ask(computers, 'second', 'facts')
        if ((facts.job as Answer | undefined)?.state !== 'running') break
        await computers.wait(2000)
      }
      assert.deepEqual(
        [(facts.job as Answer | undefined)?.state, facts.data, facts.service],
        ['done', 'none', 'absent'],
      )
      assert.deepEqual([facts.snapshots, facts.version], [[], computers.version])
      for (const path of [
        `${DATA}/server/token`,
        `${DATA}/server/tls`,
        `${DATA}/server/db/etcd`,
        CONFIG,
        '/run/k3s',
        '/etc/rancher/node',
        '/etc/systemd/system/k3s.service',
      ])
        assert.notEqual((await computers.run('second', ['ls', path])).code, 0, `${path} is left`)
    },
  },
  {
    name: 'a reset from a snapshot says so, a second one must be asked for, and K3s starts with what the snapshot held',
    async run(computers) {
      await computers.stop('first')
      await computers.write(
        'first',
        `${CONFIG}/config.yaml`,
        Object.entries(COMMON)
          .map(([key, value]) => `${key}: ${value}\n`)
          .join(''),
      )
      const listed = await computers.run('first', ['ls', `${DATA}/server/db/snapshots`])
      const snapshot = `${DATA}/server/db/snapshots/${listed.out.trim().split('\n')[0] ?? ''}`
      const reset = ['/usr/local/bin/k3s', 'server', '--cluster-reset'] as const
      const path = `--cluster-reset-restore-path=${snapshot}`
      const done = await computers.run('first', [...reset, path])
      assert.equal(done.code, 0, done.out)
      assert.match(done.out, /Managed etcd cluster membership has been reset, restart without --cluster-reset flag now/)
      const again = await computers.run('first', reset)
      assert.match(
        again.out,
        /Managed etcd cluster membership was previously reset, please remove the cluster-reset flag/,
      )
      await computers.start('first', 'server', { ...COMMON, 'cluster-init': true })
      await untilReady(computers, 'first', 'first')
      // The second server joined after the snapshot.
      assert.deepEqual(Object.keys(await nodes(computers, 'first')), ['first'])
    },
  },
]

async function refused(
  computers: K3sComputers,
  role: 'server' | 'agent',
  config: Config,
  words: readonly string[],
): Promise<void> {
  await computers.start('second', role, config)
  try {
    await untilLogged(computers, 'second', words)
  } finally {
    await computers.stop('second')
    await computers.clear('second')
  }
}

async function untilLogged(computers: K3sComputers, host: Host, words: readonly string[]): Promise<void> {
  let log = ''
  for (let waited = 0; waited < 120; waited++) {
    log = await computers.log(host)
    if (words.every((one) => log.includes(one))) return
    await computers.wait(1000)
  }
  assert.fail(`K3s did not say ${words.join(' and ')}:\n${log.slice(-3000)}`)
}

type Answer = Readonly<Record<string, unknown>>
type Etcd = NonNullable<NodeFacts['etcd']>

/** croft's own program on a node, which the simulated computers keep the contract of. */
async function ask(computers: K3sComputers, host: Host, ...words: readonly string[]): Promise<Answer> {
  if ((await computers.read(host, NODE_PROGRAM)) === undefined) {
    await computers.write(host, NODE_PROGRAM, NODE_PROGRAM_TEXT)
    await computers.run(host, ['chmod', '755', NODE_PROGRAM])
  }
  const { out } = await computers.run(host, [NODE_PROGRAM, ...words])
  return JSON.parse(out) as Answer
}

/** etcd answers a moment after the API: it is asked until it does. */
async function members(computers: K3sComputers, host: Host): Promise<Etcd> {
  for (let waited = 0; waited < 60; waited++) {
    const { etcd } = (await ask(computers, host, 'facts')) as unknown as NodeFacts
    if (etcd?.leader !== undefined && etcd.members.every(({ learner }) => !learner)) return etcd
    await computers.wait(2000)
  }
  return assert.fail(`etcd on ${host} does not say who its members are`)
}

/** Which nodes the server on a host knows, and whether they are Ready. Empty while it does not answer. */
async function nodes(computers: K3sComputers, host: Host): Promise<Readonly<Record<string, boolean>>> {
  const ran = await computers.run(host, ['/usr/local/bin/k3s', 'kubectl', 'get', '--raw', '/api/v1/nodes'])
  if (ran.code !== 0) return {}
  const { items } = JSON.parse(ran.out.slice(ran.out.indexOf('{'))) as {
    items: { metadata: { name: string }; status?: { conditions?: { type: string; status: string }[] } }[]
  }
  return Object.fromEntries(
    items.map(({ metadata, status }) => [
      metadata.name,
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true,
    ]),
  )
}

async function untilReady(computers: K3sComputers, host: Host, ...names: readonly string[]): Promise<void> {
  let seen: Readonly<Record<string, boolean>> = {}
  for (let waited = 0; waited < 300; waited++) {
    seen = await nodes(computers, host)
    if (names.every((name) => seen[name] === true)) return
    await computers.wait(2000)
  }
  assert.fail(
    `not Ready: ${names.join(', ')}; seen: ${JSON.stringify(seen)}\n${(await computers.log(host)).slice(-3000)}`,
  )
}
