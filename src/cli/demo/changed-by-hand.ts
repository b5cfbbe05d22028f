import { renderPlan } from '../render/plan.ts'
import { narrate } from './narrate.ts'
import { SCENE_MS, type Scene, SceneFailed } from './scene.ts'

const VMID = 114
const LISTED_MS = 12_000

/** Drift: what somebody changes outside Git is seen, shown and put right. */
export const changedByHand: Scene = {
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
    const told = narrate(stage)
    const settlement = await engine.settle(estate, {
      signal: runtime.signal,
      deadlineMs: SCENE_MS,
      onPass: (report) => told.pass?.(report),
    })
    const after = simulator.guests().find((guest) => guest.vmid === VMID)
    if (settlement.outcome !== 'settled' || after?.running !== true || after.config.cores !== before?.config.cores)
      throw new SceneFailed(`VM ${VMID} is not as Git says`)
    stage.say(`\n${style.paint('green', '✔')} VM ${VMID} runs again, with the cores that Git says.`)
  },
}
