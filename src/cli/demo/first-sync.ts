import { renderPlan } from '../render/plan.ts'
import { many } from '../render/problems.ts'
import { narrate } from './narrate.ts'
import type { Scene } from './scene.ts'

export const firstSync: Scene = {
  title: 'Git says what is there: two K3s servers, taken over as they are',
  async play(stage) {
    const { style } = stage
    const commit = await stage.repository.commit('Declare the homelab as it is')
    stage.say(
      `${style.paint('dim', '$')} git commit -m "Declare the homelab as it is"   ${style.paint('dim', commit.slice(0, 7))}\n`,
    )
    const before = stage.simulator.stats().writes
    const { settlement } = await stage.sync({
      plan: (plan) => stage.runtime.out.write(renderPlan(plan, style)),
      pass: narrate(stage),
    })
    const writes = stage.simulator.stats().writes - before
    stage.say(
      `\n${style.paint('green', '✔')} settled after ${many(settlement.passes, 'look')} and ${many(writes, 'write')}: ` +
        'nothing was made, nothing restarted; each machine now carries the mark of its declaration.',
    )
  },
}
