import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all } from '../../sim/kubernetes/store.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { formed, nothingLeft, order, orderOf, powerManifest, running, untilPhase } from './power-run.ts'

const AGENTS = ['a1']

function drain(choice: string): string {
  return `  deadlines: {drain: {after: 30s, choice: ${choice}}}\n`
}

/** What a power-off does and tells while a pod refuses to go. */
async function refusing(lab: Awaited<ReturnType<typeof formed>>, choice: string, end: 'Off' | 'On' | 'PoweringOff') {
  const { simulation, process, cluster, hint } = lab
  simulation.estate = clusterEstate(clusterManifest({ agents: AGENTS }) + powerManifest(drain(choice)))
  const { blockedEvictions } = simulation.datacentre.world.k3s
  for (const { metadata } of all(cluster.store, '/pods'))
    if (metadata.labels?.app === 'loner') blockedEvictions.add(`default/${metadata.name}`)
  const told: string[] = []
  const verbs: string[] = []
  const onPass = ({ events, powers }: PassReport) => {
    told.push(...events.filter(({ key }) => key === 'Power/homelab').map(({ message }) => message))
    for (const step of powers?.[0]?.decision.steps ?? []) {
      const verb = `${step.verb} ${step.workload === undefined ? (step.node ?? '') : step.tier}`
      if (verbs.at(-1) !== verb) verbs.push(verb)
    }
  }
  await order(simulation, orderOf(simulation, 'off'))
  // The one that waits is let go after a while, to see that it then goes on.
  const patience = { onPass, mostMs: end === 'PoweringOff' ? 120_000 : 900_000 }
  const reached = await untilPhase(simulation, process, end === 'PoweringOff' ? 'Off' : end, patience)
  assert.equal(reached, end === 'PoweringOff' ? 'late' : 'reached', `${choice}: ${verbs.join(', ')}; ${hint}`)
  blockedEvictions.clear()
  return { told, verbs }
}

test('[A50] a node that does not drain in time: wait, force and abort are followed, and recorded', async () => {
  const lab = await formed(13, drain('wait'), { agents: AGENTS })
  const { simulation, process, storage, actors, hint, replicas } = lab
  const sound = () => {
    assert.deepEqual([storage.torn, storage.lost(), actors.fights], [[], [], []], hint)
    nothingLeft(simulation, replicas, hint)
  }
  const on = async () => {
    await order(simulation, orderOf(simulation, 'on'))
    assert.equal(await untilPhase(simulation, process, 'On', { mostMs: 1_800_000 }), 'reached', hint)
    sound()
  }
  const late = /^(\w+): its pods to be gone was awaited for longer than 30 s/

  const waited = await refusing(lab, 'wait', 'PoweringOff')
  const once = waited.told.filter((message) => late.test(message))
  assert.equal(once.length, 1, waited.told.join('\n'))
  assert.match(once[0] ?? '', /; it is waited for, as declared$/)
  assert.equal(running(simulation.datacentre).length, 4, hint)
  assert.equal(await untilPhase(simulation, process, 'Off', { mostMs: 900_000 }), 'reached', hint)
  await on()

  const forced = await refusing(lab, 'force', 'Off')
  assert.ok(
    forced.told.some((message) => /^delete what is left on \w+ \(default\/loner/.test(message)),
    forced.told.join('\n'),
  )
  await on()

  const { told, verbs } = await refusing(lab, 'abort', 'On')
  const given = told.find((message) => message.startsWith('gave up the power-off and switches back on: ')) ?? ''
  assert.match(given.replace(/^.*? back on: /, ''), late, told.join('\n'))
  assert.equal(running(simulation.datacentre).length, 4, hint)
  // [A44] Agents that would scale everything back up are paused first and resumed last, also now.
  assert.equal(verbs[0], 'pause gitops')
  assert.equal(verbs.at(-1), 'restore gitops')
  assert.ok(verbs.indexOf('restore apps') < verbs.lastIndexOf('restore operators'), verbs.join(', '))
  sound()
})
