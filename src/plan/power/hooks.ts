import type { Tier } from '../../model/power.ts'
import { merge, NOTHING, type PowerFinding } from './finding.ts'
import type { PowerSituation } from './view.ts'

/** Programs that a person wants run before a tier goes down, or after it came up. Each once for each change. */
export function hooksOf({ spec, observed, changing }: PowerSituation, tier: Tier, when: 'off' | 'on'): PowerFinding {
  if (!changing) return NOTHING
  const own = spec.hooks.filter((hook) => hook.tier === tier && hook.when === when)
  return merge(
    own.map(({ name, on }) => {
      const ran = observed.hooks[name]
      if (ran?.ok === true) return NOTHING
      const failed =
        ran === undefined
          ? []
          : [{ tier, guard: 'hook', reason: `the hook ${name} failed: ${ran.output}`, allow: 'make it end well' }]
      return {
        ...NOTHING,
        holds: failed,
        steps: [
          {
            about: 'power',
            verb: 'run-hook',
            tier,
            hook: name,
            host: on,
            lane: 'commands',
            summary: `run the hook ${name} on ${on}`,
            awaits: 'the hook to end well',
          },
        ],
        unfinished: true,
      }
    }),
  )
}
