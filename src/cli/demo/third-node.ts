import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { cleanLines } from '../render/clean.ts'
import { watchMachine } from './milestones.ts'
import { narrate } from './narrate.ts'
import type { Scene } from './scene.ts'

export const THIRD_NODE = 'EnvironmentVM/k3s-vm-fun-bedbug'

export const thirdNode: Scene = {
  title: 'A third machine: one file, one push',
  async play(stage) {
    const { style, later } = stage
    stage.say(`${style.paint('dim', '$')} cat ${later.file}`)
    stage.say(style.paint('dim', cleanLines(withoutBlankLines(later.text)).replace(/^/gm, '    ')))
    writeFileSync(path.join(stage.repository.directory, later.file), later.text)
    const told = narrate(stage)
    const watching = new AbortController()
    const find = () => stage.simulator.guests().find((guest) => guest.vmid === 114)
    const signal = AbortSignal.any([watching.signal, stage.runtime.signal])
    const watched = watchMachine(find, stage.clock, signal, {
      milestone: (milestone) => told.tell(`in the datacentre: ${milestone}`),
      tick: told.beat,
    })
    try {
      const commit = await stage.repository.push('Add k3s-vm-fun-bedbug')
      stage.say(
        `\n${style.paint('dim', '$')} git commit -m "Add k3s-vm-fun-bedbug" && git push   ${commit.slice(0, 7)}`,
      )
      stage.say(style.paint('dim', `  time is simulated: ${stage.speed} seconds of it pass in one of yours`))
      await stage.sync(told)
    } finally {
      watching.abort()
      await watched
    }
  },
}

function withoutBlankLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('\n')
}
