import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BINARY, programText, unitName, unitPath } from '../../../sim/k3s/disk.ts'
import { startService } from '../../../sim/k3s/service.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import { allReady, type DriverLab, driverLab, LAB_VERSION } from './testing/lab.ts'

const TOKEN = 'c0ffee00c0ffee00c0ffee00c0ffee00'
const OLDER = 'v1.34.2+k3s1'
const CONFIG = '/etc/rancher/k3s/config.yaml'

/** K3s as a person installs it: an own config, and nothing of croft. */
function byHand(
  lab: DriverLab,
  name: string,
  role: 'server' | 'agent',
  flags: Readonly<Record<string, unknown>>,
): void {
  const { machine, computer } = lab.box(name)
  const address = lab.spec.servers.concat(lab.spec.agents).find((node) => node.name === name)?.nodeIps[0]
  machine.files.write(BINARY, programText(OLDER))
  machine.files.write(CONFIG, JSON.stringify({ 'node-name': name, 'node-ip': address, token: TOKEN, ...flags }))
  machine.files.write(unitPath(role), '[Service]\n')
  machine.enabled.add(unitName(role))
  startService(computer)
}

const isReady = (lab: DriverLab, name: string) => {
  for (const { store } of lab.world.k3s.clusters.values()) {
    const node = store.tables.get('/nodes')?.get(name) as
      | { status?: { conditions?: readonly { type: string; status: string }[] } }
      | undefined
    if (node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true)
      return true
  }
  return false
}

/** The first of the names forms the cluster, the others join it. */
async function handmade(names: string, first: object, more: Partial<ClusterSpec> = {}): Promise<DriverLab> {
  const lab = driverLab(names, more)
  const join = { server: 'https://10.67.0.1:6443', disable: ['traefik'] }
  for (const [index, name] of names.split(' ').entries()) {
    const role = name.startsWith('a') ? 'agent' : 'server'
    const { disable: _, ...asAgent } = join
    byHand(lab, name, role, index === 0 ? { disable: ['traefik'], ...first } : role === 'agent' ? asAgent : join)
    await lab.clock.runUntil(() => isReady(lab, name), { maxMs: 300_000 })
  }
  return lab
}

const configs = (lab: DriverLab, names: string) =>
  names.split(' ').map((name) => lab.box(name).machine.files.text(CONFIG))

describe('[D-04] a cluster that somebody made by hand', () => {
  for (const [what, names, first] of [
    ['three servers with etcd', 's1 s2 s3 a1', { 'cluster-init': true }],
    ['one server with SQLite', 's1 a1', {}],
  ] as const) {
    for (const staleState of ['refuse', 'wipe', 'recreate'] as const) {
      test(`${what}, staleState: ${staleState}: it is taken over, told what differs, and nothing of it changes`, async () => {
        const lab = await handmade(names, first, { staleState, secretsEncryption: false })
        const before = configs(lab, names)
        await lab.until(allReady(names))
        assert.deepEqual(
          [...new Set(lab.done.map(({ step }) => `${step.verb} ${step.node}`))],
          ['read-back-secrets s1'],
        )
        assert.equal(lab.vault.kept.get('homelab')?.password.reveal(), TOKEN)
        const holds = new Set<string>()
        for (let round = 0; round < 40; round++) {
          const { decision } = await lab.look()
          assert.deepEqual(decision.steps, [])
          for (const { guard, allow } of decision.holds) holds.add(`${guard} ${allow}`)
          await lab.clock.advanceTo(lab.clock.now() + 30_000)
        }
        assert.match([...holds].join('\n'), /taken-over .*version: v1\.34\.2\+k3s1/)
        assert.match([...holds].join('\n'), /disable: \[traefik\]/)
        assert.deepEqual(configs(lab, names), before)
        assert.equal(lab.world.k3s.clusters.size, 1)
        // With the offered lines in Git nothing is left to report.
        lab.spec = { ...lab.spec, version: OLDER, disable: ['traefik'] }
        const { decision } = await lab.look()
        assert.deepEqual([decision.steps, decision.holds, decision.refusals], [[], [], []])
        // With a person's permission it is changed as declared.
        const told = {
          ...lab.spec,
          version: LAB_VERSION,
          allow: { degraded: true, interruption: true, takeOver: true },
        }
        const { observed } = await lab.look()
        const next = coordinate(told, observed, lab.clock.now())
        assert.doesNotMatch(JSON.stringify(next.holds), /taken-over/)
      })
    }
  }

  test("by a person's word it is made as declared, also where only a further flag differs", async () => {
    const lab = await handmade('s1 s2 s3 a1', { 'cluster-init': true }, { secretsEncryption: false })
    await lab.until(allReady('s1 s2 s3 a1'))
    const flags = { 'kube-apiserver-arg': ['event-ttl=45m'] }
    lab.spec = { ...lab.spec, version: OLDER, disable: ['traefik'], serverFlags: flags }
    const { decision } = await lab.look()
    assert.deepEqual(decision.steps, [], 'it was changed without a word')
    const [hold] = decision.holds
    assert.match(hold?.reason ?? '', /s1 runs without kube-apiserver-arg event-ttl=45m, which serverFlags declares/)
    assert.match(hold?.allow ?? '', /correct serverFlags\.kube-apiserver-arg in the Cluster.*takeOver: true/)
    lab.spec = { ...lab.spec, allow: { degraded: true, interruption: true, takeOver: true } }
    lab.restart()
    const whole = () => configs(lab, 's1 s2 s3').every((text) => /event-ttl=45m/.test(text ?? ''))
    const voters: number[] = []
    await lab.until((observed) => {
      voters.push(observed.members === 'unknown' ? 0 : observed.members.filter(({ up }) => up === 'yes').length)
      return whole() && allReady('s1 s2 s3 a1')(observed)
    }, 2_000)
    assert.ok(Math.min(...voters) >= 2, `fewer than two servers voted: ${voters.join(' ')}`)
    await lab.until(() => configs(lab, 'a1').every((text) => (text ?? '').startsWith('# croft')), 2_000)
    for (const text of configs(lab, 's1 s2 s3 a1')) assert.match(text ?? '', /^# croft: [0-9a-f]+\n/)
  })

  test('a second server is not let into one with SQLite', async () => {
    const lab = await handmade('s1', {}, { secretsEncryption: false })
    await lab.until(allReady('s1'))
    const { observed } = await lab.look()
    const second = {
      ...lab.spec,
      servers: [...lab.spec.servers, { ...lab.spec.servers[0], name: 's2' }],
    } as ClusterSpec
    const clean = {
      ...observed.nodes[0],
      name: 's2',
      kube: 'absent' as const,
      passwordSecret: 'no' as const,
      k3s: { service: 'absent' as const, sinceMs: 0, data: 'none' },
      machine: { ...observed.nodes[0]?.machine, machineId: 'other' },
    } as (typeof observed.nodes)[number]
    const decision = coordinate(second, { ...observed, nodes: [...observed.nodes, clean] }, lab.clock.now())
    assert.ok(!decision.steps.some((step) => step.verb === 'join-server'))
    assert.match(JSON.stringify(decision.refusals), /keeps the data of homelab in SQLite/)
  })
})
