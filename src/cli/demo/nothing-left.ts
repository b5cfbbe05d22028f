import { renderPlan } from '../render/plan.ts'
import { hasSomethingToDo } from '../render/plan-summary.ts'
import { many } from '../render/problems.ts'
import { type Scene, SceneFailed } from './scene.ts'

export const nothingLeft: Scene = {
  title: 'A second look: nothing left to do',
  async play(stage) {
    const before = stage.simulator.stats()
    const { estate } = await stage.runtime.load(stage.repository.directory)
    const plan = await stage.engine.plan(estate, stage.runtime.signal)
    const report = await stage.engine.pass(estate, stage.runtime.signal)
    const after = stage.simulator.stats()
    stage.say(`${stage.style.paint('dim', '$')} croft plan .`)
    stage.runtime.out.write(renderPlan(plan, stage.style))
    const writes = after.writes - before.writes
    stage.say(
      `The datacentre saw ${many(after.calls - before.calls, 'call')} for a plan and a whole pass, and ${many(writes, 'write')}.`,
    )
    if (hasSomethingToDo(plan) || report.effects > 0)
      throw new SceneFailed('the second plan still finds something to do')
    if (writes > 0) throw new SceneFailed(`the second look made ${writes} writes`)
  },
}
