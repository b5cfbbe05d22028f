import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { emptyMemory } from '../../src/drivers/k3s/memory.ts'
import type { ObservedCluster } from '../../src/model/observed-cluster.ts'
import { croftPasses, type Planted, type State } from './actor.ts'
import { explore, told } from './explore.ts'
import { troubles } from './moves.ts'
import { STORIES, storyCalled } from './stories.ts'
import { pass } from './world.ts'

const story = (name: string) => storyCalled(name).begins()

describe('croft, without a fault', () => {
  for (const { name, begins } of STORIES) {
    test(name, async () => {
      const { findings, whole, states } = await explore(await begins(), { faults: 0, deeds: 0, states: 1000 })
      assert.ok(whole && states > 5, `${states} states`)
      assert.equal(findings.length, 0, told(findings))
    })
  }
})

describe('croft, with one fault', () => {
  for (const name of ['form', 'rest']) {
    test(name, async () => {
      const { findings, whole, states } = await explore(await story(name), { faults: 1, deeds: 0, states: 3000 })
      assert.ok(whole && states > 500, `${states} states`)
      assert.equal(findings.length, 0, told(findings))
    })
  }
})

test('a server whose Node a person deletes is not restarted while another one boots, whatever its Node still says', async () => {
  const world = await story('rest')
  const warm = await croftPasses({ world, memory: emptyMemory(), quiet: 0 })
  pass(warm.state.world, 30_000)
  troubles['restarts with an empty disk'].happens(warm.state.world, 's1')
  troubles['kubectl delete node'].happens(warm.state.world, 's2')
  const { effects } = await croftPasses(warm.state)
  assert.deepEqual(effects, [])
})

/** As croft did until it lost a real cluster: it believes every server that calls itself leader. */
const believesALoneLeader: Planted = (observed: ObservedCluster, { memory }: State) => {
  for (const [node, { facts }] of memory.facts) {
    const { etcd } = facts
    if (etcd === undefined || etcd.self !== etcd.leader || etcd.members.length > 1) continue
    const members = etcd.members.map(({ id, name }) => ({ id, name, node, learner: false, up: 'yes' as const }))
    const { strangers: _, ...rest } = observed
    return { ...rest, members }
  }
  return observed
}

test('a planted bug is found: a server that begins a cluster of its own on an empty disk is believed', async () => {
  const { findings } = await explore(await story('rest'), { faults: 1, deeds: 0, states: 400 }, believesALoneLeader)
  const found = findings.find(({ what }) => what === 'croft believes in 1 of 3 voters')
  assert.ok(found, told(findings))
  assert.ok(found.script.length <= 4, told([found]))
  assert.match(found.script.join('\n'), /empty disk|without its disk/)
})
