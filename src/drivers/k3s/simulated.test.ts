import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rotateToken } from '../../../sim/k3s/rotate-token.ts'
import { networkChanged } from '../../../sim/k3s/service.ts'
import { switchOff, switchOn } from '../../../sim/metal/box.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { Secret } from '../../model/secret.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import { allReady, type DriverLab, driverLab, LAB_VERSION } from './testing/lab.ts'

const MINUTE = 60_000
const votes = (count: number) => (observed: ObservedCluster) =>
  observed.members !== 'unknown' &&
  observed.members.length === count &&
  observed.members.every(({ learner, up }) => !learner && up === 'yes')
const well = (names: string, servers: number) => (observed: ObservedCluster) =>
  allReady(names)(observed) && votes(servers)(observed)
const verbs = (lab: DriverLab) => [...new Set(lab.done.map(({ step }) => `${step.verb} ${step.node ?? ''}`.trim()))]
const pass = (lab: DriverLab, ms: number) => lab.clock.advanceTo(lab.clock.now() + ms)

async function formed(names: string, servers: number, more = {}): Promise<DriverLab> {
  const lab = driverLab(names, more)
  await lab.until(well(names, servers))
  return lab
}

describe('forming', () => {
  test('three servers and two agents become one cluster, from clean boxes', async () => {
    const lab = await formed('s1 s2 s3 a1 a2', 3)
    assert.deepEqual(
      lab.done.filter(({ outcome }) => outcome.result === 'refused'),
      [],
    )
    assert.deepEqual(
      verbs(lab).filter((verb) => verb.startsWith('init') || verb.startsWith('join')),
      ['init-cluster s1', 'join-server s2', 'join-agent a1', 'join-agent a2', 'join-server s3'],
    )
    assert.equal(lab.vault.kept.get('homelab')?.formed, true)
  })

  test('[F-32] a controller that dies after every single step changes nothing about the end', async () => {
    const lab = driverLab('s1 s2 s3 a1')
    const done = well('s1 s2 s3 a1', 3)
    for (let round = 0; round < 300; round++) {
      lab.restart()
      const before = lab.done.length
      const observed = await lab.until((seen) => done(seen) || lab.done.length > before, 200)
      if (done(observed)) break
    }
    const { observed } = await lab.look()
    assert.ok(done(observed))
    assert.equal(lab.world.k3s.clusters.size, 1)
  })

  test('[A4] tokens are in no argument, no error and no log; agents get one of their own that goes when they are in', async () => {
    const lab = await formed('s1 a1', 1)
    await lab.until(() => false, 2).catch(() => undefined)
    const secrets = lab.vault.kept.get('homelab')
    const all = [secrets?.password.reveal() ?? '?', secrets?.agentPassword?.reveal() ?? '?']
    const told = JSON.stringify([lab.done, lab.asked, (await lab.look()).observed])
    for (const secret of all) {
      for (const form of [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')]) {
        assert.ok(!told.includes(form))
      }
    }
    const token = lab.box('a1').machine.files.text('/etc/rancher/k3s/agent-token') ?? ''
    assert.match(token, new RegExp(`^K10${secrets?.caHash}::[a-z0-9]{6}\\.[a-z0-9]{16}\\n$`))
    const listed = await lab.call('GET', '/api/v1/namespaces/kube-system/secrets')
    assert.ok(!listed.body.includes('bootstrap-token-'))
    assert.equal(
      lab
        .box('s1')
        .machine.files.text('/etc/rancher/k3s/config.yaml')
        ?.includes(all[0] ?? ''),
      false,
    )
  })

  test('[S-26] tokens are whole and long, lie in files of root alone, and no unit or configuration holds one', async () => {
    const lab = await formed('s1 s2 s3 a1', 3)
    const text = (file: { readonly base64: string }) => Buffer.from(file.base64, 'base64').toString()
    const tokens = lab.written.filter(({ path }) => /\/(?:agent-)?token$/.test(path))
    assert.equal(new Set(tokens.map(({ node }) => node)).size, 4)
    for (const file of tokens) {
      assert.equal(file.mode, '0600', `${file.node} ${file.path}`)
      if (file.path.endsWith('/token')) assert.match(text(file), /^K10[0-9a-f]{64}::server:[0-9a-f]{32,}\n$/)
    }
    const secret = new RegExp(['K10[0-9a-f]{64}', lab.vault.kept.get('homelab')?.password.reveal()].join('|'))
    for (const file of lab.written.filter((one) => !tokens.includes(one)))
      assert.doesNotMatch(text(file), secret, file.path)
    const config = lab.written.filter(({ node, path }) => node === 's2' && path.endsWith('/config.yaml')).map(text)
    assert.ok(config.length > 0 && config.every((one) => one.includes('"tls-san-security": true')))
  })
})

describe('a join that takes its time', () => {
  for (const staleState of ['refuse', 'wipe'] as const) {
    test(`[R20-7] a server that is on its way in is not stale, and the next one waits for its vote (${staleState})`, async () => {
      const lab = driverLab('s1 s2 s3', { staleState })
      for (const name of ['s2', 's3']) lab.box(name).trouble.slowJoinMs = 20_000
      const said: string[] = []
      const begun = new Map<string, number>()
      const voted = new Map<string, number>()
      await lab.until((observed) => {
        const { refusals, steps, nodes } = coordinate(lab.spec, observed, lab.clock.now())
        for (const { guard, node } of refusals) said.push(`${guard} ${node}`)
        for (const step of steps) {
          if (step.verb === 'wipe-k3s') said.push(`wipe ${step.node}`)
          if (step.verb === 'join-server') begun.set(step.node ?? '', lab.clock.now())
        }
        for (const { name, phase } of nodes) if (phase === 'StaleState') said.push(`${phase} ${name}`)
        for (const member of observed.members === 'unknown' ? [] : observed.members)
          if (!member.learner && !voted.has(member.node)) voted.set(member.node, lab.clock.now())
        return well('s1 s2 s3', 3)(observed)
      })
      assert.deepEqual(said, [])
      assert.ok((voted.get('s2') ?? Number.POSITIVE_INFINITY) <= (begun.get('s3') ?? 0), 's3 waited for the vote of s2')
    })
  }
})

describe('a server that has gone silent', () => {
  test('has no vote to count on although its Node is still Ready, and no other server is touched meanwhile', async () => {
    const lab = await formed('s1 s2 s3', 3, { upgrade: { ...driverLab('s1').spec.upgrade, soakMs: 0 } })
    await pass(lab, MINUTE)
    const { computer, trouble } = lab.box('s3')
    trouble.noNetwork = true
    networkChanged(computer)
    lab.spec = { ...lab.spec, version: 'v1.34.4+k3s1' }
    lab.restart()
    const { observed, decision } = await lab.look()
    const kube = observed.nodes.find(({ name }) => name === 's3')?.kube
    assert.ok(typeof kube === 'object' && kube.ready === 'yes', 'its Node says so for most of a minute')
    assert.ok(observed.members !== 'unknown')
    assert.notEqual(observed.members.find(({ node }) => node === 's3')?.up, 'yes')
    assert.deepEqual(
      decision.steps.filter(({ node }) => node !== undefined).map(({ verb, node }) => `${verb} ${node}`),
      [],
    )
  })
})

describe('an endpoint that is a name', () => {
  test('[R20-8] servers join one that votes; the name is for clients and agents', async () => {
    const names = 's1 s2 s3 a1'
    const lab = await formed(names, 3, { endpoint: { dns: 'k3s.home.arpa' } })
    const joined = (name: string) =>
      /"server": "([^"]*)"/.exec(lab.box(name).machine.files.text('/etc/rancher/k3s/config.yaml') ?? '')?.[1]
    assert.deepEqual(
      names.split(' ').map((name) => joined(name)),
      ['https://10.67.0.2:6443', 'https://10.67.0.1:6443', 'https://10.67.0.1:6443', 'https://k3s.home.arpa:6443'],
    )
  })

  test('[R20-8] a server whose flags change names another one that votes, never itself or the name', async () => {
    const lab = await formed('s1 s2 s3', 3, { endpoint: { dns: 'k3s.home.arpa' } })
    lab.spec = { ...lab.spec, tlsSans: ['k3s.example'], upgrade: { ...lab.spec.upgrade, soakMs: 0 } }
    lab.restart()
    const configured = () =>
      lab.done.some(
        ({ step, outcome }) => step.verb === 'configure-k3s' && step.node === 's1' && outcome.result === 'done',
      )
    await lab.until(configured, 3000)
    const config = lab.box('s1').machine.files.text('/etc/rancher/k3s/config.yaml') ?? ''
    assert.match(config, /"server": "https:\/\/10\.67\.0\.[23]:6443"/)
  })
})

describe('looking', () => {
  test('[A57] a settled cluster costs one call of its API, and its nodes are asked every ten minutes', async () => {
    const lab = await formed('s1 s2 s3 a1', 3)
    await pass(lab, 2 * MINUTE)
    await lab.look()
    await lab.look()
    lab.asked.length = 0
    for (let look = 0; look < 5; look++) {
      await lab.look()
      await pass(lab, 5_000)
    }
    assert.deepEqual([...new Set(lab.asked)], ['GET /api/v1/nodes'])
    assert.equal(lab.asked.length, 5)
    await pass(lab, LIMITS.nodeFactsMs)
    lab.asked.length = 0
    await lab.look()
    assert.equal(lab.asked.filter((line) => line.endsWith(': facts')).length, 4)
    assert.ok(lab.asked.every((line) => line.startsWith('GET') || line.endsWith('facts')))
  })

  test('what cannot be seen is unknown, and what is off is down', async () => {
    const lab = await formed('s1 s2 s3', 3)
    await pass(lab, MINUTE)
    const { switchOff } = await import('../../../sim/metal/box.ts')
    switchOff(lab.world, lab.box('s3'))
    await pass(lab, 2 * MINUTE)
    const { observed } = await lab.look()
    const third = observed.nodes.find(({ name }) => name === 's3')
    assert.deepEqual([third?.k3s, typeof third?.kube === 'object' && third.kube.ready], ['unknown', 'no'])
    assert.equal(observed.members !== 'unknown' && observed.members.find(({ node }) => node === 's3')?.up, 'no')
    for (const name of ['s1', 's2']) switchOff(lab.world, lab.box(name))
    await pass(lab, MINUTE)
    const blind = (await lab.look()).observed
    assert.notEqual(blind.api, 'yes')
    assert.deepEqual(
      [blind.members, ...blind.nodes.map(({ kube }) => kube)],
      ['unknown', 'unknown', 'unknown', 'unknown'],
    )
  })
})

describe('joining', () => {
  test('[A5] a token that was rotated by hand is read from the cluster when a server joins', async () => {
    const lab = driverLab('s1 s2 s3', { allow: { degraded: true, interruption: false } })
    const whole = lab.spec
    lab.spec = { ...whole, servers: whole.servers.slice(0, 1) }
    lab.restart()
    await lab.until(well('s1', 1))
    await pass(lab, MINUTE)
    const first = lab.vault.kept.get('homelab')
    assert.ok(first !== undefined)
    lab.vault.kept.set('homelab', { ...first, formerPasswords: [new Secret('of-an-older-snapshot')] })
    const shell = lab.surroundings().nodes.get('s1')?.shell
    assert.ok(shell !== undefined)
    const input = JSON.stringify({ token: 'rotatedrotatedrotatedrotated1234' })
    await lab.clock.runUntil(shell.run(['/usr/local/lib/croft/node', 'rotate-token'], { input }))
    await pass(lab, MINUTE)
    lab.spec = whole
    lab.restart()
    await lab.until(well('s1 s2 s3', 3))
    const secrets = lab.vault.kept.get('homelab')
    assert.equal(secrets?.password.reveal(), 'rotatedrotatedrotatedrotated1234')
    assert.deepEqual(
      secrets?.formerPasswords.map((one) => one.reveal()),
      [first.password.reveal(), 'of-an-older-snapshot'],
      'none that an older snapshot may need is lost',
    )
  })

  for (const [what, cut] of [
    ['one server loses its power', ['s2']],
    ['all servers lose their power', ['s1', 's2', 's3']],
  ] as const)
    test(`the token was rotated by hand on s3 and ${what}: they come back with the present one`, async () => {
      const lab = await formed('s1 s2 s3', 3)
      const process = lab.box('s3').machine.k3s?.process
      assert.ok(process)
      assert.deepEqual(rotateToken(process.computer, 'rotated-by-hand'), { ok: true })
      for (const name of cut) switchOff(lab.world, lab.box(name), false)
      await lab.clock.advanceTo(lab.clock.now() + 30_000)
      for (const name of cut) switchOn(lab.world, lab.box(name))
      await lab.clock.advanceTo(lab.clock.now() + 60_000)
      await lab.until(well('s1 s2 s3', 3), 600)
      assert.equal(lab.vault.kept.get('homelab')?.password.reveal(), 'rotated-by-hand')
    })

  test('[A6] [A7] data of another cluster is refused by name, and nothing is started with it', async () => {
    const lab = driverLab('s1 s2 s3')
    const other = driverLab('s1', {}, 9)
    await other.until(well('s1', 1))
    const stale = other.vault.kept.get('homelab')?.files.get('server-ca.crt')?.reveal() ?? ''
    lab.box('s2').machine.files.write('/var/lib/rancher/k3s/server/tls/server-ca.crt', stale)
    const outcome = await lab.perform({ verb: 'record-first-server', node: 's1' })
    // Without a record it might be this very cluster.
    assert.equal(outcome.result, 'refused')
    lab.box('s2').machine.files.remove('/var/lib/rancher')
    await lab.perform({ verb: 'record-first-server', node: 's1' })
    lab.box('s2').machine.files.write('/var/lib/rancher/k3s/server/tls/server-ca.crt', stale)
    const join = await lab.perform({ verb: 'join-server', node: 's2', version: LAB_VERSION })
    assert.ok(join.result === 'refused' && join.refusal.reason === 'StaleState' && join.refusal.meaning === 'stalled')
    assert.equal(lab.box('s2').machine.k3s?.process, undefined)
    const { decision } = await lab.look()
    assert.match(decision.refusals.map(({ reason }) => reason).join(), /s2 holds stale K3s state/)
  })

  test('[A9] the first server, wiped, joins the others and begins no second cluster', async () => {
    const lab = await formed('s1 s2 s3', 3, { endpoint: { server: 's2' }, staleState: 'wipe' })
    await pass(lab, MINUTE)
    const first = lab.box('s1')
    const { switchOff, switchOn } = await import('../../../sim/metal/box.ts')
    switchOff(lab.world, first)
    for (const folder of ['/var/lib/rancher', '/etc/rancher', '/etc/systemd/system/k3s.service'])
      first.machine.files.remove(folder)
    await pass(lab, 2 * MINUTE)
    switchOn(lab.world, first)
    await pass(lab, MINUTE)
    lab.done.length = 0
    await lab.until(well('s1 s2 s3', 3))
    assert.ok(verbs(lab).includes('join-server s1'))
    assert.ok(!verbs(lab).includes('init-cluster s1'))
    assert.equal(lab.world.k3s.clusters.size, 1)
  })

  for (const staleState of ['refuse', 'wipe', 'recreate'] as const) {
    test(`[D-01] a lost vault with staleState: ${staleState} costs nothing: CA and token are read back, no node is wiped`, async () => {
      const lab = await formed('s1 s2 s3 a1 a2', 3, { staleState })
      await pass(lab, MINUTE)
      const before = lab.vault.kept.get('homelab')
      await lab.call('POST', '/api/v1/namespaces', { metadata: { name: 'photos' } })
      lab.vault.kept.clear()
      lab.restart()
      lab.done.length = 0
      await lab.until(well('s1 s2 s3 a1 a2', 3))
      assert.deepEqual([...new Set(verbs(lab))], ['read-back-secrets s1'])
      assert.equal(lab.world.k3s.clusters.size, 1)
      assert.equal((await lab.call('GET', '/api/v1/namespaces/photos')).status, 200)
      const after = lab.vault.kept.get('homelab')
      assert.equal(after?.caHash, before?.caHash)
      assert.equal(after?.password.reveal(), before?.password.reveal())
      // Once everything is known again, no step starts.
      for (let round = 0; round < 30; round++) {
        assert.deepEqual((await lab.look()).decision.steps, [])
        await pass(lab, 10_000)
      }
    })
  }

  test('[D-01] a node whose K3s runs is wiped by nobody, whatever step arrives', async () => {
    const lab = await formed('s1 s2 s3', 3)
    await pass(lab, MINUTE)
    const outcome = await lab.perform({ verb: 'wipe-k3s', node: 's2' })
    assert.ok(outcome.result === 'refused' && outcome.refusal.reason === 'Running', JSON.stringify(outcome))
    await pass(lab, MINUTE)
    assert.ok(well('s1 s2 s3', 3)((await lab.look()).observed))
  })

  test('[A10] an agent that was wiped comes back under its name without a rejected password', async () => {
    const lab = await formed('s1 a1', 1)
    await pass(lab, MINUTE)
    await lab.perform({ verb: 'stop-k3s', node: 'a1' })
    await pass(lab, 15_000)
    await lab.perform({ verb: 'wipe-k3s', node: 'a1' })
    await pass(lab, 2 * MINUTE)
    lab.done.length = 0
    await lab.until(well('s1 a1', 1))
    assert.deepEqual(
      verbs(lab).filter((verb) => /delete|join/.test(verb)),
      ['delete-node a1', 'join-agent a1'],
    )
  })
})

describe('changing', () => {
  const QUICK = {
    upgrade: {
      method: 'inPlace',
      drain: { timeoutMs: 10 * MINUTE, onTimeout: 'wait' },
      soakMs: 30_000,
      nodeTimeoutMs: 10 * MINUTE,
      healthChecks: [],
      windows: [],
      agentsSurge: 1,
    },
  } as const

  test('an upgrade goes from server to server, each given back before the next, with a snapshot before', async () => {
    const lab = await formed('s1 s2 s3 a1', 3, QUICK)
    lab.spec = { ...lab.spec, version: 'v1.34.4+k3s1' }
    lab.restart()
    lab.done.length = 0
    const upgraded = (observed: ObservedCluster) =>
      well('s1 s2 s3 a1', 3)(observed) &&
      observed.nodes.every(
        ({ kube }) => typeof kube === 'object' && kube.version === 'v1.34.4+k3s1' && kube.work === undefined,
      )
    const observed = await lab.until(upgraded, 2_000)
    const list = verbs(lab)
    assert.ok(list.some((verb) => verb.startsWith('snapshot')))
    for (const name of ['s1', 's2', 's3', 'a1'])
      assert.ok(list.includes(`upgrade-k3s ${name}`) && list.includes(`uncordon ${name}`))
    assert.ok(observed.nodes.every(({ kube }) => typeof kube === 'object' && !kube.unschedulable))
  })

  test('changed flags are rolled out, survive a crash between any two steps, and [A36] a person’s cordon stays', async () => {
    const lab = await formed('s1 s2 s3', 3, QUICK)
    await lab.call('PATCH', '/api/v1/nodes/s2', { spec: { unschedulable: true } })
    lab.spec = { ...lab.spec, disable: ['traefik'] }
    const done = (observed: ObservedCluster) =>
      well('s1 s2 s3', 3)(observed) &&
      observed.nodes.every(
        ({ kube }) => typeof kube === 'object' && kube.args?.disable?.[0] === 'traefik' && kube.work === undefined,
      )
    for (let round = 0; round < 200; round++) {
      lab.restart()
      const before = lab.done.length
      const observed = await lab.until((seen) => done(seen) || lab.done.length > before, 500)
      if (done(observed)) break
    }
    const { observed } = await lab.look()
    assert.ok(done(observed))
    assert.deepEqual(
      observed.nodes.map(({ name, kube }) => [name, typeof kube === 'object' && kube.unschedulable]),
      [
        ['s1', false],
        ['s2', true],
        ['s3', false],
      ],
    )
  })
})
