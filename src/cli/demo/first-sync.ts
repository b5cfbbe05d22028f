import { many } from '../render/problems.ts'
import { narrate } from './narrate.ts'
import { type Scene, SceneFailed } from './scene.ts'

export const firstSync: Scene = {
  title: 'Git declares what exists: two virtual machines, adopted as they are',
  async play(stage) {
    const { style, simulator } = stage
    const before = simulator.stats().writes
    const commit = await stage.repository.push('Declare the homelab as it is')
    stage.say(
      `${style.paint('dim', '$')} git commit -m "Declare the homelab as it is" && git push   ${commit.slice(0, 7)}`,
    )
    const { settlement } = await stage.sync(narrate(stage))
    const writes = simulator.stats().writes - before
    if (simulator.guests().length !== stage.before.length) throw new SceneFailed('taking over made another machine')
    stage.say(
      `\n${style.paint('green', '✔')} settled after ${many(settlement.passes, 'pass', 'passes')} and ${many(writes, 'write')}: ` +
        'nothing created, nothing restarted;\n  each machine now carries the mark of its declaration.',
    )
  },
}
