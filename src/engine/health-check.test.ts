import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createVirtualClock } from '../../sim/virtual-clock.ts'
import type { Driver, DriverDeps } from '../drivers/port.ts'
import type { Shell } from '../lib/shell.ts'
import { type Probe, withTarget } from '../model/health-check.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import { createExistingClusters } from './existing-clusters.ts'
import { type CheckFacts, checkAsker, clusterAnswer, probeAsker } from './health-check.ts'

const never = new AbortController().signal
const machine = {
  key: 'Machine/web',
  name: 'web',
  uid: 'u1',
  driver: 'proxmox',
  connection: 'home',
  desired: { type: 'vm', vm: {} },
}

function lookOf(api: 'yes' | 'no' | 'unknown', ready: Readonly<Record<string, 'yes' | 'no'>>): ClusterPlan {
  const names = Object.keys(ready)
  return {
    declaration: { name: 'edge', spec: { servers: names.map((name) => ({ name })), agents: [] } },
    observed: { api, nodes: names.map((name) => ({ name, kube: { ready: ready[name] } })) },
  } as unknown as ClusterPlan
}

function seenWith(more: Partial<CheckFacts> = {}): CheckFacts {
  return {
    estate: { resources: [machine], connections: [{ name: 'home', driver: 'proxmox' }], clusters: [{ name: 'edge' }] },
    clusters: [],
    surveys: [{ connection: 'home', resources: [{ externalId: '120', mark: { uid: 'u1' }, power: 'running' }] }],
    ...more,
  } as unknown as CheckFacts
}

describe('a check of a cluster', () => {
  for (const [what, look, passed, says] of [
    ['all nodes ready', lookOf('yes', { a: 'yes', b: 'yes' }), 'yes', 'all nodes are ready'],
    ['one node not ready', lookOf('yes', { a: 'yes', b: 'no' }), 'no', 'not ready: b'],
    ['an API that does not answer', lookOf('no', { a: 'yes' }), 'no', 'its API does not answer'],
    ['nobody knows', lookOf('unknown', { a: 'yes' }), 'unknown', 'its API does not answer'],
  ] as const) {
    test(what, () => {
      assert.deepEqual(clusterAnswer('edge', seenWith({ clusters: [look] })), { passed, output: says })
    })
  }

  test('one that is declared and not yet seen is unknown, one that nobody declares fails', () => {
    assert.equal(clusterAnswer('edge', seenWith()).passed, 'unknown')
    assert.equal(clusterAnswer('other', seenWith()).passed, 'no')
  })
})

describe('a command', () => {
  const closed: string[] = []
  const shell = (code: number, ran: string[][]): Shell => ({
    run: async (argv) => {
      ran.push([...argv])
      return { code, stdout: code === 0 ? 'fine\n' : '', stderr: '' }
    },
    readFile: async () => undefined,
    writeFile: async () => {},
    close: async () => void closed.push('shell'),
  })
  function asks(code: number, seen: CheckFacts, ran: string[][] = []) {
    const session = {
      agent: { shell: () => shell(code, ran) },
      close: async () => void closed.push('session'),
      survey: async () => assert.fail('what was surveyed is not surveyed again'),
    }
    const ask = checkAsker({
      clock: createVirtualClock(0),
      drivers: [{ name: 'proxmox', connect: () => session } as unknown as Driver],
      deps: { openShell: () => shell(code, ran) } as unknown as DriverDeps,
      network: () => new Promise(() => {}),
      existing: createExistingClusters({}),
    })
    return (probe: Probe) => {
      const check = { everyMs: 1000, timeoutMs: 1000, failures: 1, probe }
      return ask('c', { ...seen, estate: { ...seen.estate, checks: new Map([['c', check]]) } }, never)
    }
  }
  const command = (on: string): Probe => ({ ask: 'command', on, run: ['pg_isready', '-q'] })

  test('runs in the machine that carries our mark, and the lane is closed again', async () => {
    const ran: string[][] = []
    assert.deepEqual(await asks(0, seenWith(), ran)(command('web')), { passed: 'yes', output: 'fine' })
    assert.deepEqual(ran, [['pg_isready', '-q']])
    assert.deepEqual(closed.splice(0), ['shell', 'session'])
    assert.deepEqual(await asks(3, seenWith())(command('Machine/web')), { passed: 'no', output: 'it ended with 3' })
    closed.splice(0)
  })

  test('a machine that is gone or off fails without anybody being asked, and nothing stays open', async () => {
    const gone = seenWith({ surveys: [{ connection: 'home', resources: [] }] as unknown as CheckFacts['surveys'] })
    assert.deepEqual(await asks(0, gone)(command('web')), { passed: 'no', output: 'web is not there' })
    const off = seenWith({
      surveys: [
        { connection: 'home', resources: [{ mark: { uid: 'u1' }, power: 'stopped' }] },
      ] as unknown as CheckFacts['surveys'],
    })
    assert.equal((await asks(0, off)(command('web'))).output, 'web does not run')
    assert.deepEqual(closed.splice(0), ['session', 'session'])
  })

  test('on a Host it goes over its shell; a name that nobody has fails', async () => {
    const host = { name: 'nas', address: 'localhost', port: 22, user: 'root', hostKeys: [], sudo: 'none' } as const
    assert.deepEqual(await asks(0, seenWith())({ ask: 'command', on: 'nas', run: ['true'], host }), {
      passed: 'yes',
      output: 'fine',
    })
    assert.equal((await asks(0, seenWith())(command('nobody'))).passed, 'no')
  })
})

describe('any check', () => {
  const clock = createVirtualClock(0)
  const check = { everyMs: 1000, timeoutMs: 2000, failures: 1, probe: { ask: 'tcp', host: 'h', port: 1 } } as const
  const seen = { ...seenWith(), estate: { checks: new Map([['c', check]]) } } as unknown as CheckFacts
  const asker = (network: () => Promise<never>) =>
    checkAsker({ clock, drivers: [], deps: {} as DriverDeps, network, existing: createExistingClusters({}) })

  test('nobody answers in its time: that is an answer, and the question is dropped', async () => {
    const late = await clock.runUntil(asker(() => new Promise(() => {}))('c', seen, never))
    assert.deepEqual(late, { passed: 'no', output: 'h:1: no answer within 2000 ms' })
  })

  test('what was asked stands before the answer, without what may be secret in an address', () => {
    const said = { passed: 'no', output: 'answered 500' } as const
    const cases: readonly (readonly [Probe, string])[] = [
      [{ ask: 'http', url: 'https://u:canary@web.lan:8443/up?key=canary#x', status: [200] }, 'https://web.lan:8443/up'],
      [{ ask: 'dns', name: 'web.lan', type: 'A', server: '192.168.4.1' }, 'A of web.lan at 192.168.4.1'],
    ]
    for (const [probe, target] of cases) assert.equal(withTarget(probe, said).output, `${target}: answered 500`)
    const open = { passed: 'yes', output: 'h:1 is open' } as const
    assert.deepEqual(withTarget({ ask: 'tcp', host: 'h', port: 1 }, open), open)
  })

  test('a refusal is an answer in its own word; a name that nobody declares is unknown', async () => {
    const refuse = asker(async () => {
      throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    })
    assert.deepEqual(await refuse('c', seen, never), {
      passed: 'no',
      output: 'h:1: nothing listens there (ECONNREFUSED)',
    })
    assert.deepEqual(await refuse('other', seen, never), {
      passed: 'unknown',
      output: 'there is no HealthCheck other',
    })
  })
})

describe('a question of an upgrade', () => {
  const ways = {
    clock: createVirtualClock(0),
    drivers: [],
    deps: {} as DriverDeps,
    network: async () => ({ passed: 'yes', output: 'open' }) as const,
    existing: createExistingClusters({}),
  }
  const tcp: Probe = { ask: 'tcp', host: 'h', port: 1 }

  test('is asked about the estate of the moment, also one that came later', async () => {
    let estate: CheckFacts['estate'] | undefined
    const ask = probeAsker(ways, () => estate)
    assert.equal((await ask(tcp, never)).passed, 'unknown', 'there is no estate yet')
    estate = seenWith().estate
    assert.deepEqual(await ask(tcp, never), { passed: 'yes', output: 'open' })
    assert.deepEqual(await ask({ ask: 'command', on: 'web', run: ['true'] }, never), {
      passed: 'unknown',
      output: 'nothing speaks to home',
    })
    assert.deepEqual(await ask({ ask: 'cluster', cluster: 'other' }, never), {
      passed: 'no',
      output: 'there is no Cluster other',
    })
  })
})
