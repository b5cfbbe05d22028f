import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { proxyEnvironment } from '../../lib/tunnel.ts'
import { writeEnvironment } from '../environment-file.ts'
import { closing } from '../load.ts'
import { renderPlan } from '../render/plan.ts'
import { hasSomethingToDo } from '../render/plan-summary.ts'
import { many } from '../render/problems.ts'
import { renderResources } from '../render/resources.ts'
import { renderTable } from '../render/table.ts'
import { cleanLines } from '../render/text.ts'
import { rowsOf } from '../rows.ts'
import type { Runtime } from '../runtime.ts'
import { cluster, thirdServer } from './cluster.ts'
import { writeExample } from './example.ts'
import { hostDies } from './host-dies.ts'
import { watchMachine } from './milestones.ts'
import { narrate } from './narrate.ts'
import { ownFolder } from './own-folder.ts'
import { createTourPage, openInBrowser } from './page.ts'
import { createRepository } from './repository.ts'
import { SCENE_MS, type Scene, SceneFailed, type Stage } from './scene.ts'
import { createStage } from './stage.ts'
import { missingFrom } from './verify.ts'
import { renderWaterfall, spansOf } from './waterfall.ts'

const THIRD_NODE = 'EnvironmentVM/k3s-vm-fun-bedbug'
const JOIN_MS = 10 * 60_000
const LOOK_MS = 1_000

const thirdNode: Scene = {
  title: 'A third server for the cluster: one file, one push',
  async play(stage) {
    const { style, later } = stage
    stage.say(`${style.paint('dim', '$')} cat ${later.file}`)
    stage.say(style.paint('dim', cleanLines(withoutBlankLines(later.text)).replace(/^/gm, '    ')))
    writeFileSync(path.join(stage.repository.directory, later.file), later.text)
    const narrator = narrate(stage)
    const watching = new AbortController()
    const find = () => stage.simulator.guests().find((guest) => guest.vmid === 114)
    const signal = AbortSignal.any([watching.signal, stage.runtime.signal])
    const watched = watchMachine(find, stage.clock, signal, {
      milestone: (milestone) => narrator.tell(`in the datacentre: ${milestone}`),
      tick: narrator.beat,
    })
    try {
      const commit = await stage.repository.push('Add k3s-vm-fun-bedbug')
      stage.say(
        `\n${style.paint('dim', '$')} git commit -m "Add k3s-vm-fun-bedbug" && git push   ${commit.slice(0, 7)}`,
      )
      stage.say(style.paint('dim', `  time is simulated: ${stage.speed} seconds of it pass in one of yours`))
      await stage.sync(narrator)
    } finally {
      watching.abort()
      await watched
    }
    await joined(stage)
    narrator.tell('in the datacentre: K3s on it has joined the two other servers')
    stage.say(
      `\n${style.paint('green', '✔')} three servers, three votes in etcd: from now on the cluster survives the loss of one.`,
    )
  },
}

/** Waits until the machine has joined the running cluster through its user data; croft only made the machine. */
async function joined({ simulator, clock, runtime }: Stage): Promise<void> {
  const until = clock.now() + JOIN_MS
  const [, name = ''] = THIRD_NODE.split('/')
  while (!simulator.nodes().some((node) => node.name === name && node.ready && node.votes)) {
    if (runtime.signal.aborted) throw new SceneFailed('interrupted')
    if (clock.now() > until) throw new SceneFailed(`${name} did not join the cluster`)
    await clock.sleep(LOOK_MS, runtime.signal)
  }
}

function withoutBlankLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('\n')
}

const VMID = 114
const LISTED_MS = 12_000

/** Drift: a change outside Git is seen, shown and undone. */
const changedByHand: Scene = {
  title: 'Somebody changes a machine by hand: croft puts it right',
  async play(stage) {
    const { simulator, style, engine, runtime } = stage
    const before = simulator.guests().find((guest) => guest.vmid === VMID)
    stage.say(style.paint('dim', `(in Proxmox's own page: VM ${VMID} is shut down and given 8 cores)`))
    simulator.patchGuest(VMID, { status: 'stopped', cores: '8' })
    // Proxmox itself takes ten seconds to show a change in its lists.
    await stage.clock.sleep(LISTED_MS, runtime.signal)
    const { estate } = await runtime.load(stage.repository.directory)
    stage.say(`${style.paint('dim', '$')} croft plan .`)
    runtime.out.write(renderPlan(await engine.plan(estate, runtime.signal), style))
    const narrator = narrate(stage)
    const settlement = await engine.settle(estate, {
      signal: runtime.signal,
      deadlineMs: SCENE_MS,
      onPass: (report) => narrator.pass?.(report),
    })
    const after = simulator.guests().find((guest) => guest.vmid === VMID)
    if (settlement.outcome !== 'settled' || after?.running !== true || after.config.cores !== before?.config.cores)
      throw new SceneFailed(`VM ${VMID} is not as Git says`)
    stage.say(`\n${style.paint('green', '✔')} VM ${VMID} runs again, with the cores that Git says.`)
  },
}

const nothingLeft: Scene = {
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

const summary: Scene = {
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

const firstSync: Scene = {
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

const datacentre: Scene = {
  title: 'A datacentre: three Proxmox hosts (simulated, nothing real is touched)',
  async play(stage) {
    const { simulator, style } = stage
    const guests = simulator.guests()
    stage.say(`The Proxmox API answers at ${style.paint('bold', simulator.endpoint)}`)
    stage.say(
      `with the certificate ${simulator.fingerprint.slice(0, 23)}…; simulated time runs ${stage.speed} times as fast.\n`,
    )
    const rows = simulator.hosts().map((host) => {
      const here = guests.filter((guest) => guest.host === host)
      const names = here.map((guest) => `${guest.vmid} ${guest.name} (${guest.running ? 'running' : 'stopped'})`)
      return [host, names.length === 0 ? 'none' : names.join(', ')]
    })
    stage.runtime.out.write(renderTable([{ title: 'HOST' }, { title: 'MACHINES' }], rows, style))
    const votes = simulator.nodes().filter((node) => node.ready && node.votes)
    if (votes.length !== 2) throw new SceneFailed(`${many(votes.length, 'server')} of K3s in the datacentre, not two`)
    stage.say('\nThe two machines are the servers of a K3s cluster that somebody set up by hand. Two votes need both:')
    stage.say('if one server fails, the API stops. A third one changes that.')
  },
}

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
  /** Runs after the last scene, before the stage is taken down. */
  readonly after?: (stage: Stage) => Promise<void>
}

/** Plays all scenes on one stage, and always cleans up. Throws SceneFailed if a scene does not reach its end. */
export async function playTour(runtime: Runtime, options: TourOptions = {}): Promise<void> {
  const speed = options.speed ?? SPEED
  const directory = await ownFolder(tmpdir())
  const removeAll = () => rmSync(directory, { recursive: true, force: true })
  // Remove the temporary directory on exit too, if the process is ended in a scene.
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
      ...proxyEnvironment(simulator.it.proxy ?? ''),
    }
    const env = { ...runtime.env, ...around }
    // Environment for another terminal: the same estate, on the same clock.
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
