import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { closing } from '../closing.ts'
import { writeEnvironment } from '../environment-file.ts'
import type { Runtime } from '../runtime.ts'
import { changedByHand } from './changed-by-hand.ts'
import { cluster, thirdServer } from './cluster.ts'
import { datacentre } from './datacentre.ts'
import { writeExample } from './example.ts'
import { firstSync } from './first-sync.ts'
import { hostDies } from './host-dies.ts'
import { nothingLeft } from './nothing-left.ts'
import { createTourPage, openInBrowser } from './page.ts'
import { createRepository } from './repository.ts'
import type { Scene, Stage } from './scene.ts'
import { createStage } from './stage.ts'
import { summary } from './summary.ts'
import { thirdNode } from './third-node.ts'

/** The tour, in order. A later part is one more scene here. */
export const SCENES: readonly Scene[] = [
  datacentre,
  firstSync,
  thirdNode,
  nothingLeft,
  summary,
  changedByHand,
  cluster,
  thirdServer,
  hostDies,
]

/** Simulated seconds in one real second: a machine takes its believable minute, the tour a few seconds. */
const SPEED = 7
const TOKEN_VARIABLE = 'CROFT_DEMO_TOKEN'

export interface TourOptions {
  readonly speed?: number
  /** Opens the page in a browser, where there is a desktop. */
  readonly open?: boolean
  /** What comes after the last scene while everything still runs. */
  readonly after?: (stage: Stage) => Promise<void>
}

/** Plays every scene on one stage and cleans up, whatever happens. Throws SceneFailed when it did not get there. */
export async function playTour(runtime: Runtime, options: TourOptions = {}): Promise<void> {
  const speed = options.speed ?? SPEED
  const directory = await mkdtemp(path.join(tmpdir(), 'croft-demo-'))
  const removeAll = () => rmSync(directory, { recursive: true, force: true })
  // Also when the process is told to leave in the middle of a scene: nothing stays in the temporary directory.
  process.once('exit', removeAll)
  try {
    await using simulator = closing(
      await runtime.startSimulator({ preset: 'homelab', port: 0, seed: 1, speed, proxy: true }),
    )
    const database = path.join(directory, 'state', 'croft.db')
    await using store = closing(await runtime.openStore(database))
    const around = {
      [TOKEN_VARIABLE]: simulator.it.token,
      CROFT_VAULT: path.join(directory, 'vault'),
      // Simulated machines have simulated addresses: the way to their APIs leads through the simulator.
      HTTPS_PROXY: simulator.it.proxy ?? '',
      NO_PROXY: '',
    }
    const env = { ...runtime.env, ...around }
    // For another terminal: everything by which croft there sees what this one sees, and lives in the same time.
    const environment = path.join(directory, 'environment')
    const { clock: clockAddress } = simulator.it.announcement
    writeEnvironment(environment, {
      ...around,
      CROFT_STATE: database,
      CROFT_SIM_CLOCK: typeof clockAddress === 'string' ? clockAddress : '',
    })
    const clock = simulator.it.clock
    await using engine = closing(await runtime.openEngine(store.it, { directory, clock, env }))
    const repository = await createRepository(directory)
    const page = createTourPage(engine.it, store.it, clock, repository)
    const { startServer } = await import('../../server/start.ts')
    await using server = closing(
      await startServer({ controller: page.controller, clock, version: runtime.version, port: 0 }),
    )
    const followed = await runtime.follow(repository.remote, path.join(directory, 'mirror.git'))
    const { endpoint, fingerprint } = simulator.it
    const facts = { endpoint, fingerprint, tokenVariable: TOKEN_VARIABLE }
    const later = writeExample(runtime.example, repository.directory, facts)
    const stage = createStage(runtime, {
      simulator: simulator.it,
      repository,
      followed,
      engine: page.engine,
      inForce: page.inForce,
      page: server.it.url,
      environment,
      speed,
      later,
    })
    const url = stage.style.paint('bold', server.it.url)
    stage.say(`The page of this tour is at ${url}: open it now and watch both.`)
    if (options.open === true) openInBrowser(server.it.url, runtime.env)
    for (const [index, scene] of SCENES.entries()) {
      if (runtime.signal.aborted) return
      stage.say(`\n${stage.style.paint(['cyan', 'bold'], `── ${index + 1}/${SCENES.length}  ${scene.title}`)}\n`)
      await scene.play(stage)
    }
    await options.after?.(stage)
  } finally {
    process.removeListener('exit', removeAll)
    removeAll()
  }
}
