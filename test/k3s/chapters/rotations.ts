import assert from 'node:assert/strict'
import { has, pingPong, settled, snapshot, untilReady, write } from '../sights.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { restored } from './restores.ts'

/** Everything secret is exchanged; and a snapshot from before each exchange still leads back. */
export async function rotations(stage: Stage, story: Story): Promise<void> {
  for (const what of ['token', 'encryption-keys', 'ca']) {
    let before = ''
    await story.step(`${what}: rotated`, async () => {
      await write(stage, 'before')
      await stage.kubectl('delete', 'configmap/after', 'secret/after', '--ignore-not-found')
      before = await snapshot(stage)
      await write(stage, 'after')
      const ran = await stage.mustCroft(['cluster', 'rotate', 'lab', what, '--yes'], 900)
      await untilReady(stage, [...stage.declared.servers, ...stage.declared.agents])
      assert.ok((await has(stage, 'before')) && (await has(stage, 'after')), 'an object was lost')
      return `${ran.seconds.toFixed(0)} s; ${await pingPong(stage, 'rotated')}`
    })
    await story.step(`${what}: nothing is left to do`, () => settled(stage))
    await story.step(`${what}: a snapshot from after it restores`, async () => {
      await stage.kubectl('delete', 'configmap/after', 'secret/after', '--ignore-not-found')
      const after = await snapshot(stage)
      await write(stage, 'after')
      return await restored(stage, after)
    })
    await story.step(`${what}: one from before it restores too`, async () => {
      await write(stage, 'after')
      return await restored(stage, before)
    })
    await story.step(`${what}: nothing is left to do then`, () => settled(stage))
  }
}
