// Labels and taints from Git: set through the API, without a restart, leaving foreign ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterSpec } from '../../model/cluster.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const NAMES = 's1 a1'

interface Seen {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: { readonly taints?: readonly { readonly key: string; readonly value?: string }[] }
}

async function nodeOf(lab: DriverLab, name: string): Promise<Seen> {
  const answer = await lab.call('GET', `/api/v1/nodes/${name}`)
  return JSON.parse(Buffer.from(answer.body).toString('utf8')) as Seen
}

function declare(lab: DriverLab, labels: Readonly<Record<string, string>>, taints: readonly string[]): void {
  const change = (node: ClusterSpec['agents'][number]) => ({ ...node, labels, taints })
  lab.spec = { ...lab.spec, servers: lab.spec.servers.map(change), agents: lab.spec.agents.map(change) }
  lab.restart()
}

test('labels and taints change through the API, restart nothing, and what left Git goes', async () => {
  const lab = driverLab(NAMES)
  declare(lab, { room: 'attic', old: 'yes' }, ['gpu=ml:PreferNoSchedule'])
  await lab.until(allReady(NAMES), 900)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  for (let round = 0; round < 5; round++) await lab.until(() => round > 0, 2).catch(() => undefined)
  await lab.call('PATCH', '/api/v1/nodes/a1', { metadata: { labels: { mine: 'stays', room: 'moved' } } })
  lab.done.length = 0
  declare(lab, { room: 'cellar' }, ['gpu=db:PreferNoSchedule'])
  const settled = async () => {
    for (let round = 0; round < 20; round++) {
      await lab.until(() => false, 1).catch(() => undefined)
      if ((await lab.look()).decision.steps.length === 0) return
    }
  }
  await settled()
  const verbs = [...new Set(lab.done.map(({ step }) => step.verb))]
  assert.deepEqual(verbs, ['label-node'])
  for (const name of ['s1', 'a1']) {
    const { metadata, spec } = await nodeOf(lab, name)
    assert.equal(metadata.labels.room, 'cellar')
    assert.equal(metadata.labels.old, undefined, `old is still on ${name}`)
    assert.equal(metadata.labels.mine, name === 'a1' ? 'stays' : undefined)
    assert.deepEqual(
      (spec.taints ?? []).filter(({ key }) => key === 'gpu').map(({ value }) => value),
      ['db'],
    )
  }
  declare(lab, {}, [])
  await settled()
  const { metadata, spec } = await nodeOf(lab, 'a1')
  assert.deepEqual([metadata.labels.room, metadata.labels.mine, spec.taints ?? []], [undefined, 'stays', []])
  assert.equal((await lab.look()).observed.nodes.length, 2)
  const config = lab.box('a1').machine.files.text('/etc/rancher/k3s/config.yaml') ?? ''
  assert.match(config, /"node-name"/)
  assert.doesNotMatch(config, /attic/, 'K3s would set it again at its next start')
  await lab.call('PATCH', '/api/v1/nodes/a1', { metadata: { labels: { room: 'attic' } } })
  lab.done.length = 0
  await settled()
  assert.equal((await nodeOf(lab, 'a1')).metadata.labels.room, 'attic', 'another set it to what the node joined with')
  assert.deepEqual(lab.done, [])
})

test('a taint that evicts pods comes to one node at a time, and to the next after the soak', async () => {
  const lab = driverLab('s1 a1 a2')
  lab.spec = { ...lab.spec, upgrade: { ...lab.spec.upgrade, soakMs: 60_000 } }
  await lab.until(allReady('s1 a1 a2'), 900)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  const declared = { ...lab.spec, agents: lab.spec.agents.map((one) => ({ ...one, taints: ['gpu=db:NoExecute'] })) }
  lab.spec = declared
  lab.restart()
  const at = new Map<string, number>()
  for (let round = 0; round < 200 && at.size < 2; round++) {
    await lab.until(() => false, 1).catch(() => undefined)
    for (const name of ['a1', 'a2'])
      if (!at.has(name) && (await nodeOf(lab, name)).spec.taints?.some(({ key }) => key === 'gpu'))
        at.set(name, lab.clock.now())
  }
  const [first = 0, second = 0] = [...at.values()].sort((a, b) => a - b)
  assert.equal(at.size, 2)
  assert.ok(second - first >= 60_000, `${second - first} ms between them`)
})
