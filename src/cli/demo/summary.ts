import { renderResources } from '../render/resources.ts'
import { rowsOf } from '../rows.ts'
import { type Scene, SceneFailed } from './scene.ts'
import { THIRD_NODE } from './third-node.ts'
import { missingFrom } from './verify.ts'
import { renderWaterfall, spansOf } from './waterfall.ts'

export const summary: Scene = {
  title: 'What there is now, and how long it took',
  async play(stage) {
    const loaded = await stage.runtime.load(stage.repository.directory)
    const { records } = await stage.engine.pass(loaded.estate, stage.runtime.signal)
    const rows = rowsOf(loaded, records).filter((row) => !row.passive)
    const view = { wide: false, headers: true, qualified: true, nowMs: stage.clock.now() }
    stage.say(`${stage.style.paint('dim', '$')} croft get`)
    stage.say(renderResources(rows, stage.style, view))
    stage.say(`${stage.style.paint('bold', THIRD_NODE)}, step by step:`)
    stage.runtime.out.write(renderWaterfall(spansOf(stage.story, THIRD_NODE), stage.style))
    const missing = missingFrom(stage.before, stage.simulator.guests(), records)
    if (missing.length > 0) throw new SceneFailed(`in the datacentre itself is missing: ${missing.join('; ')}`)
  },
}
