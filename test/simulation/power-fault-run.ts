import assert from 'node:assert/strict'
import type { PassReport } from '../../src/engine/engine.ts'
import type { PowerDecision } from '../../src/model/observed-power.ts'
import { noIntentionLeft } from './cluster-oracle.ts'
import { effectName, type PowerFault, type Way } from './power-fault-table.ts'
import { nothingLeft, order, orderOf, running, until, untilPhase } from './power-run.ts'
import type { Site } from './power-site.ts'
import type { Strike } from './process.ts'

const LONGEST_MS = 3_600_000
const HEAL_MS = 120_000
const DARK_MS = 1_200_000

/** Goes off, and on again, once and without trouble; says which effects that takes, each once. */
export async function cleanEffects(site: Site): Promise<Readonly<Record<Way, readonly string[]>>> {
  const found: Record<Way, readonly string[]> = { off: [], on: [] }
  for (const way of ['off', 'on'] as const) {
    const names = new Set<string>()
    await go(site, way, `clean ${way}`, (effect) => {
      const name = effectName(effect)
      if (name !== undefined) names.add(name)
      return 'done'
    })
    found[way] = [...names]
  }
  soundAfter(site, 'clean', false)
  return found
}

/** One power-off and power-on with a fault at one effect. True: the effect came, and with it the fault. */
export async function withFault(site: Site, way: Way, effect: string, fault: PowerFault): Promise<boolean> {
  const hint = `${fault.name}, at ${effect} on the way ${way}; ${site.hint}`
  site.simulation.estate = site.estateWith(fault.power ?? '')
  if (way === 'on') await go(site, 'off', hint)
  let came = false
  const end = await go(site, way, hint, (one) => {
    if (came || effectName(one) !== effect) return 'done'
    came = true
    return fault.strike(site)
  })
  fault.heal?.(site)
  if (end === 'gave up') assert.ok(fault.aborts, `it gave up; ${hint}`)
  if (end === 'off') await staysOff(site, hint)
  if (end !== 'on') await go(site, 'on', hint)
  // A machine that died with the last step is seen a little later, when its order is over.
  else if (fault.tears) await until(site.simulation, await site.start(), () => false, HEAL_MS)
  soundAfter(site, hint, came && fault.tears === true)
  return came
}

/** Orders a state and lets croft run until it is reached; one that is killed is started again a minute later. */
async function go(site: Site, way: Way, hint: string, strike?: Strike): Promise<Way | 'gave up'> {
  const { simulation } = site
  await order(simulation, orderOf(simulation, way))
  const endMs = simulation.clock.now() + LONGEST_MS
  let gaveUp = false
  const lines: string[] = []
  const onPass = (report: PassReport) => {
    const { decision } = report.powers?.[0] ?? {}
    gaveUp ||= decision?.ended?.result === 'aborted'
    const line = sentence(decision)
    if (lines.at(-1) !== line) lines.push(line)
    if (lines.length > 12) lines.shift()
  }
  const dark = () => [...simulation.datacentre.world.hosts.values()].every(({ power }) => power === 'off')
  const darkMs = simulation.clock.now() + DARK_MS
  const orWhen = (report: PassReport) => {
    // No source is left that could report it off: croft waits for it, as declared.
    if (way === 'off' && simulation.clock.now() > darkMs && dark()) return true
    return gaveUp && report.settled && report.powers?.[0]?.decision.phase === 'On'
  }
  for (let process = await site.start(strike); ; process = await site.start()) {
    const mostMs = endMs - simulation.clock.now()
    const reached = await untilPhase(simulation, process, way === 'off' ? 'Off' : 'On', { mostMs, onPass, orWhen })
    if (reached === 'reached') return gaveUp ? 'gave up' : way
    assert.equal(reached, 'killed', `it never ends; ${hint}\n${lines.join('\n')}`)
    await simulation.clock.advanceTo(simulation.clock.now() + 60_000)
  }
}

function sentence(decision: PowerDecision | undefined): string {
  if (decision === undefined) return 'nothing'
  const { phase, steps, waits, holds, warnings } = decision
  const parts = [steps.map(({ summary }) => summary), waits.map(({ what, awaits }) => `${what}: ${awaits}`)]
  return [phase, ...parts.map((part) => part.join('; ')), ...holds.map(({ reason }) => reason), ...warnings].join(' | ')
}

/** Proves that another croft, for ten minutes, turns nothing back on. */
async function staysOff(site: Site, hint: string): Promise<void> {
  const { simulation, packets } = site
  const process = await site.start()
  packets.length = 0
  const own = running(simulation.datacentre)
  for (let pass = 0; pass < 4; pass++) {
    const signal = new AbortController().signal
    await simulation.clock.runUntil(process.engine.pass(simulation.estate, signal), { maxMs: 600_000 })
    await simulation.clock.advanceTo(simulation.clock.now() + 150_000)
  }
  assert.deepEqual(running(simulation.datacentre), own, `something was healed back on; ${hint}`)
  assert.deepEqual(own, [], `something runs; ${hint}`)
  assert.deepEqual(packets, [], `something was woken; ${hint}`)
  noIntentionLeft(simulation, hint)
}

/** The oracle: what must be true after every power-off and power-on, despite the faults in between. */
function soundAfter(site: Site, hint: string, tears: boolean): void {
  assert.deepEqual(site.storage.lost(), [], `data; ${hint}`)
  if (!tears) assert.deepEqual(site.storage.torn, [], `volumes that were not unmounted; ${hint}`)
  // An agent that died with its node and came back with it, by HA, has a last word before it ends: it is undone.
  if (!tears) assert.deepEqual(site.actors.fights, [], `somebody scaled it back up; ${hint}`)
  nothingLeft(site.simulation, site.replicas, hint)
  noIntentionLeft(site.simulation, hint)
  site.asBefore(hint)
  site.storage.torn.length = 0
  site.actors.fights.length = 0
  site.packets.length = 0
}
