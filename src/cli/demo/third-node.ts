import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { cleanLines } from '../render/clean.ts'
import { renderPlan } from '../render/plan.ts'
import { narrate } from './narrate.ts'
import type { Scene } from './scene.ts'

export const THIRD_NODE = 'EnvironmentVM/k3s-vm-fun-bedbug'

export const thirdNode: Scene = {
  title: 'A third node: one file, one commit',
  async play(stage) {
    const { style, later } = stage
    stage.say(style.paint('dim', `$ cat ${later.file}`))
    stage.say(indented(cleanLines(later.text.trimEnd())))
    writeFileSync(path.join(stage.repository.directory, later.file), later.text)
    // The controller is already watching when the commit is made.
    const syncing = stage.sync({
      revision: (revision) => stage.say(`${style.paint('cyan', '►')} push seen: ${revision.slice(0, 7)}\n`),
      plan: (plan) => {
        stage.runtime.out.write(`${renderPlan(plan, style)}\n`)
        stage.say(style.paint('dim', `Time below is simulated: ${stage.speed} seconds pass in one of yours.`))
      },
      pass: narrate(stage),
    })
    const commit = await stage.repository.commit('Add k3s-vm-fun-bedbug')
    stage.say(
      `${style.paint('dim', '\n$')} git commit -m "Add k3s-vm-fun-bedbug" && git push   ${style.paint('dim', commit.slice(0, 7))}`,
    )
    await syncing
  },
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ')
}
