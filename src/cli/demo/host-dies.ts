import { SERVERS, verifyServers } from './cluster.ts'
import { narrate } from './narrate.ts'
import { SCENE_MS, type Scene, SceneFailed, type Stage } from './scene.ts'

const LOOK_MS = 5_000
const LOOKS = 60

/** A host loses power: the cluster stays up, croft reports the loss, and all nodes return with the host. */
export const hostDies: Scene = {
  title: 'A host loses power',
  async play(stage) {
    const { simulator, style, engine, runtime, clock } = stage
    const { estate } = await runtime.load(stage.repository.directory)
    const host = simulator.hosts()[2] ?? ''
    const others = SERVERS.slice(0, 2)
    const narrator = narrate(stage)
    stage.say(style.paint('dim', `(the power cable of ${host} is pulled: ${SERVERS[2]} and VM 114 run there)`))
    simulator.hostPower(host, 'off')
    const until = async (what: string, holds: () => boolean) => {
      for (let look = 0; look < LOOKS && !holds(); look++) {
        if (runtime.signal.aborted) throw new SceneFailed('interrupted')
        narrator.pass?.(await engine.pass(estate, runtime.signal))
        await clock.sleep(LOOK_MS, runtime.signal)
      }
      if (!holds()) throw new SceneFailed(what)
    }
    await until(`${SERVERS[2]} still counts as Ready`, () => isReady(stage, SERVERS[2] ?? '') === false)
    verifyServers(stage, others)
    stage.say(
      `\n${style.paint('green', '✔')} two of three servers answer and hold the majority. croft waits for the host:\n` +
        '  it moves and destroys nothing because a host is silent.',
    )
    stage.say(style.paint('dim', `(power returns to ${host})`))
    simulator.hostPower(host, 'on')
    await until(`${SERVERS[2]} did not come back`, () => isReady(stage, SERVERS[2] ?? ''))
    const settlement = await engine.settle(estate, {
      signal: runtime.signal,
      deadlineMs: SCENE_MS,
      onPass: (report) => narrator.pass?.(report),
    })
    if (settlement.outcome !== 'settled') throw new SceneFailed(`croft did not settle (${settlement.outcome})`)
    verifyServers(stage, SERVERS)
    stage.say(`\n${style.paint('green', '✔')} ${host} is back, and so is the third vote. Nobody did anything.`)
  },
}

function isReady({ simulator }: Stage, name: string): boolean {
  return simulator.nodes().some((node) => node.name === name && node.ready)
}
