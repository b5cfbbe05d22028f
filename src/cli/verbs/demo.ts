import { narrate } from '../demo/narrate.ts'
import { SceneFailed, type Stage } from '../demo/scene.ts'
import { playTour } from '../demo/tour.ts'
import { styleOf } from '../output.ts'
import { clean } from '../render/text.ts'
import { EXIT, signalCode, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, _args, options) => {
  const style = styleOf(runtime, runtime.out)
  const started = runtime.clock.monotonicMs()
  let reached = false
  try {
    await playTour(runtime, {
      ...(typeof options.speed === 'number' ? { speed: options.speed } : {}),
      open: options.once !== true && options.open !== false && runtime.out.isTty,
      after: async (stage) => {
        const seconds = ((runtime.clock.monotonicMs() - started) / 1000).toFixed(1)
        stage.say(`\n${style.paint(['green', 'bold'], 'The tour reached its end')} in ${seconds} s of your time.`)
        reached = true
        if (options.once !== true) await lookAround(stage)
      },
    })
    if (!reached) return signalCode(runtime.signal)
    return options.once === true ? EXIT.ok : 'stopped'
  } catch (error) {
    if (!(error instanceof SceneFailed)) throw error
    if (runtime.signal.aborted) return signalCode(runtime.signal)
    runtime.err.write(`${style.paint(['red', 'bold'], 'The tour did not reach its end:')} ${clean(error.message)}.\n`)
    runtime.err.write('Run it again; if it happens again, CROFT_LOG=debug croft demo --once shows more.\n')
    return EXIT.failed
  }
}

/** Keeps the simulator running until Ctrl-C, and follows further pushes. */
async function lookAround(stage: Stage): Promise<void> {
  const { simulator, repository, environment, runtime } = stage
  const dim = (text: string) => stage.style.paint('dim', text)
  const croft = runtime.program
  stage.say(`
Everything keeps running, and nothing real is touched. From another terminal:

  cd ${repository.directory}
  . ${environment}

  ${croft} plan .                      ${dim('no changes, exit code 0')}
  ${croft} get -o wide                 ${dim('the table above, and more')}
  ${croft} describe k3s-vm-fun-bedbug  ${dim('conditions and events of one machine')}
  ${croft} health                      ${dim('what is wrong, since when, why and what to do')}

  sed -i 's/cores: 1/cores: 2/' ${stage.later.file}
  ${croft} diff
  git commit -am 'One more core' && git push     ${dim('and watch this terminal')}

The page is at ${stage.page}, the Proxmox API of the simulator at ${simulator.endpoint}.
Ctrl-C ends it and removes everything.
`)
  while (!runtime.signal.aborted) {
    try {
      await stage.sync(narrate(stage))
    } catch (error) {
      if (runtime.signal.aborted) return
      stage.say(`Not followed: ${clean(error instanceof Error ? error.message : String(error))}`)
      if (!(error instanceof SceneFailed)) return await untilStopped(runtime.signal)
    }
  }
}

function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
