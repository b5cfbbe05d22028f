import assert from 'node:assert/strict'
import { formByHand } from '../by-hand.ts'
import { pingPong, servers, settled } from '../observed.ts'
import { selftested } from '../selftested.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

/** How much longer than a script croft may take until three servers are Ready. */
const AT_MOST = 1.3

/** From hosts with nothing on them to a cluster, compared with a script that does the same. */
export async function beginnings(stage: Stage, story: Story): Promise<void> {
  const { lab } = stage
  let [byHand, byCroft] = [0, 0]
  await story.step('three servers by a plain script', async () => {
    for (const name of lab.hosts.keys()) await lab.emptyDisk(name)
    await lab.boot('h1', 'h2', 'h3')
    byHand = await formByHand(stage, ['h1', 'h2', 'h3'])
    return `Ready after ${byHand.toFixed(1)} s`
  })
  byCroft = await formByCroft(stage, story)
  await story.measure(`at most ${AT_MOST} times the script`, async () => {
    const ratio = `${(byCroft / byHand).toFixed(2)} times: ${byCroft.toFixed(1)} s to ${byHand.toFixed(1)} s`
    assert.ok(byCroft <= AT_MOST * byHand, ratio)
    return ratio
  })
  await complete(stage, story)
}

/** The same cluster for chapters that only go on from it. */
export async function ground(stage: Stage, story: Story): Promise<void> {
  await formByCroft(stage, story)
  await complete(stage, story)
}

/** Answers the seconds that `croft apply` took. */
async function formByCroft(stage: Stage, story: Story): Promise<number> {
  const { lab } = stage
  let seconds = 0
  await story.step('hosts with empty disks', async () => {
    for (const name of lab.hosts.keys()) await lab.emptyDisk(name)
    await lab.boot(...lab.hosts.keys())
    return 'five hosts over SSH'
  })
  await story.step('three servers by croft apply', async () => {
    stage.forget()
    stage.declare({ servers: ['h1', 'h2', 'h3'], agents: [], version: stage.programs[0]?.version ?? '' })
    const ran = await stage.mustCroft(['apply', '.', '--yes', '--progress', 'plain'])
    const ready = await stage.ready()
    assert.deepEqual([...ready].sort(), ['h1', 'h2', 'h3'])
    seconds = ran.seconds
    return `Ready after ${ran.seconds.toFixed(1)} s; ${await servers(stage)}`
  })
  return seconds
}

async function complete(stage: Stage, story: Story): Promise<void> {
  await story.step('an agent joins', async () => {
    stage.declare({ agents: ['h4'] })
    await stage.mustCroft(['apply', '.', '--yes', '--progress', 'plain'])
    assert.deepEqual([...(await stage.ready())].sort(), ['h1', 'h2', 'h3', 'h4'])
    return 'h4 Ready by kubectl'
  })
  await story.step('nothing is left to do', () => settled(stage))
  await story.step('croft selftest', () => selftested(stage))
  await story.step('objects and Secrets are kept', () => pingPong(stage, 'first'))
}
