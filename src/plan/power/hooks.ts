import type { Tier } from '../../model/power.ts'
import type { Step } from '../../model/step.ts'
import { held, merge, NOTHING, type PowerFinding, stepAndWait } from './finding.ts'
import type { PowerSituation } from './view.ts'

/** Returns the programs that a person wants before a tier goes down or after it came up, once per change. */
export function hooksOf(view: PowerSituation, tier: Tier, when: 'off' | 'on'): PowerFinding {
  const { spec, observed, changing } = view
  if (!changing) return NOTHING
  const own = spec.hooks.filter((hook) => hook.tier === tier && hook.when === when)
  const deadline = when === 'off' ? 'stop' : 'start'
  return merge(
    own.map(({ name, on }) => {
      const ran = observed.hooks[name]
      if (ran?.ok === true) return NOTHING
      const step: Step<'power'> = {
        about: 'power',
        verb: 'run-hook',
        tier,
        hook: name,
        host: on,
        lane: 'commands',
        summary: `run the hook ${name} on ${on}`,
        awaits: 'the hook to end well',
      }
      if (ran === undefined) return stepAndWait(view, step, `hook ${name}`, deadline)
      const wait = { tier, what: `hook ${name}`, awaits: step.awaits, deadline, seen: ran.output } as const
      const hold = { guard: 'hook', reason: `the hook ${name} failed: ${ran.output}`, allow: 'make it end well' }
      return merge([{ ...NOTHING, steps: [step] }, held(view, wait, hold)])
    }),
  )
}
