import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Driver, DriverDeps } from '../drivers/port.ts'
import type { Shell } from '../lib/shell.ts'
import type { ClusterLook } from '../model/cluster-look.ts'
import type { Probe } from '../model/health-check.ts'
import { clusterAnswer, type LastSeen, laneProbes } from './lane-probes.ts'

const never = new AbortController().signal
const machine = {
  key: 'Machine/web',
  name: 'web',
  uid: 'u1',
  driver: 'proxmox',
  connection: 'home',
  desired: { type: 'vm', vm: {} },
}

function lookOf(api: 'yes' | 'no' | 'unknown', ready: Readonly<Record<string, 'yes' | 'no'>>): ClusterLook {
  const names = Object.keys(ready)
  return {
    declaration: { name: 'edge', spec: { servers: names.map((name) => ({ name })), agents: [] } },
    observed: { api, nodes: names.map((name) => ({ name, kube: { ready: ready[name] } })) },
  } as unknown as ClusterLook
}

function seenWith(more: Partial<LastSeen> = {}): LastSeen {
  return {
    estate: { resources: [machine], connections: [{ name: 'home', driver: 'proxmox' }], clusters: [{ name: 'edge' }] },
    declarations: [],
    clusters: [],
    surveys: [{ connection: 'home', sightings: [{ externalId: '120', mark: { uid: 'u1' }, power: 'running' }] }],
    ...more,
  } as unknown as LastSeen
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
  function lanes(code: number, seen: LastSeen | undefined, ran: string[][] = []) {
    const session = {
      shell: () => shell(code, ran),
      close: async () => void closed.push('session'),
      survey: async () => assert.fail('what was surveyed is not surveyed again'),
    }
    const driver = { name: 'proxmox', connect: () => session } as unknown as Driver
    const deps = { openShell: () => shell(code, ran) } as unknown as DriverDeps
    return laneProbes({
      network: async () => ({ passed: 'yes', output: 'network' }),
      drivers: [driver],
      deps,
      seen: () => seen,
    })
  }
  const ask = (on: string): Probe => ({ ask: 'command', on, run: ['pg_isready', '-q'] })

  test('runs in the machine that carries our mark, and the lane is closed again', async () => {
    const ran: string[][] = []
    assert.deepEqual(await lanes(0, seenWith(), ran)(ask('web'), never), { passed: 'yes', output: 'fine' })
    assert.deepEqual(ran, [['pg_isready', '-q']])
    assert.deepEqual(closed.splice(0), ['shell', 'session'])
    assert.deepEqual(await lanes(3, seenWith())(ask('Machine/web'), never), {
      passed: 'no',
      output: 'it ended with 3',
    })
  })

  test('a machine that is gone or off fails without anybody being asked', async () => {
    const gone = seenWith({ surveys: [{ connection: 'home', sightings: [] }] as unknown as LastSeen['surveys'] })
    assert.deepEqual(await lanes(0, gone)(ask('web'), never), { passed: 'no', output: 'web is not there' })
    const off = seenWith({
      surveys: [
        { connection: 'home', sightings: [{ mark: { uid: 'u1' }, power: 'stopped' }] },
      ] as unknown as LastSeen['surveys'],
    })
    assert.equal((await lanes(0, off)(ask('web'), never)).output, 'web does not run')
  })

  test('on a Host it goes over its shell; a name that nobody has fails; before the first look nobody knows', async () => {
    const host = { kind: 'Host', name: 'nas', spec: { local: true } }
    const seen = seenWith({ declarations: [host] as unknown as LastSeen['declarations'] })
    assert.deepEqual(await lanes(0, seen)(ask('nas'), never), { passed: 'yes', output: 'fine' })
    assert.equal((await lanes(0, seenWith())(ask('nobody'), never)).passed, 'no')
    assert.equal((await lanes(0, undefined)(ask('web'), never)).passed, 'unknown')
    assert.equal((await lanes(0, undefined)({ ask: 'tcp', host: 'x', port: 1 }, never)).output, 'network')
  })
})
