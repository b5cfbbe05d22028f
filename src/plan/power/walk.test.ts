import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../lib/random.ts'
import type { PowerDecision } from '../../model/observed-power.ts'
import { coordinatePower } from './coordinate.ts'
import { specWith } from './testing/fixture.ts'
import { createSmallWorld } from './testing/world.ts'

type Planner = typeof coordinatePower

const SEEDS = 250

/** Switches off and on at random times, with crashes, lost power and API outages; then on, without faults. */
function walk(seed: number, plan: Planner): readonly string[] {
  const random = seededRandom(seed)
  const world = createSmallWorld(plan, specWith(), random)
  for (let at = 0; at < 30; at++) world.tick()
  for (let turn = 0; turn < 4; turn++) {
    world.order(turn % 2 === 0 ? 'off' : 'on')
    const ticks = 5 + Math.floor(random.next() * 80)
    for (let at = 0; at < ticks && world.faults.length === 0; at++) world.tick()
  }
  world.calm()
  world.order('on')
  for (let at = 0; at < 400; at++) {
    world.tick()
    if (world.decision()?.phase === 'On' && world.wrongs().length === 0) break
  }
  return [...world.faults, ...world.wrongs()]
}

test(`[A44] [A45] ${SEEDS} walks: no volume is pulled, nothing of ours stays, everything gets back what it had`, () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const wrong = walk(seed, coordinatePower)
    assert.deepEqual(wrong, [], `seed ${seed}`)
  }
})

test('a walk that nobody disturbs goes off and comes back on', () => {
  const world = createSmallWorld(coordinatePower, specWith(), seededRandom(7))
  world.calm()
  for (let at = 0; at < 30; at++) world.tick()
  world.order('off')
  for (let at = 0; at < 200 && world.decision()?.phase !== 'Off'; at++) world.tick()
  assert.equal(world.decision()?.phase, 'Off')
})

function changed(change: (decision: PowerDecision) => PowerDecision): Planner {
  return (...input) => change(coordinatePower(...input))
}

const BUGS: Readonly<Record<string, Planner>> = {
  'volumes are not waited for': (spec, observed, ...rest) =>
    coordinatePower(
      spec,
      observed.cluster === undefined ? observed : { ...observed, cluster: { ...observed.cluster, attachments: [] } },
      ...rest,
    ),
  'a node is not marked': changed((decision) => ({
    ...decision,
    steps: decision.steps.map((step) => (step.verb === 'mark-node' ? { ...step, verb: 'stop-k3s' } : step)),
  })),
  'nodes are not freed': changed((decision) => ({
    ...decision,
    steps: decision.steps.filter((step) => step.verb !== 'unmark-node'),
  })),
  'one workload is forgotten': changed((decision) => ({
    ...decision,
    steps: decision.steps.filter((step) => step.verb !== 'restore' || step.workload?.name !== 'apps-1'),
  })),
  'the order is taken for done when it was given': (spec, observed, requests, _done, nowMs) => {
    const sinceMs = requests.wanted?.atMs ?? 0
    const state = requests.wanted?.state ?? 'on'
    return coordinatePower(spec, observed, requests, { sinceMs, state, result: 'aborted' }, nowMs)
  },
  'servers go with the workers': changed((decision) => ({
    ...decision,
    steps: decision.steps.flatMap((step) =>
      step.verb === 'stop-k3s' && step.tier === 'workers' ? [step, { ...step, node: 's1', tier: 'servers' }] : [step],
    ),
  })),
  'Nodes are believed that only show what they were': (spec, observed, ...rest) =>
    coordinatePower(
      spec,
      observed.cluster === undefined
        ? observed
        : {
            ...observed,
            cluster: {
              ...observed.cluster,
              nodes: observed.cluster.nodes.map((node) => ({ ...node, back: true, kube: 'ready' })),
            },
          },
      ...rest,
    ),
}

for (const [name, planner] of Object.entries(BUGS)) {
  test(`a planted bug is found: ${name}`, () => {
    let found = false
    for (let seed = 1; seed <= SEEDS && !found; seed++) found = walk(seed, planner).length > 0
    assert.ok(found, `${SEEDS} walks did not find it`)
  })
}
