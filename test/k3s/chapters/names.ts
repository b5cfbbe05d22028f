import assert from 'node:assert/strict'
import { API_NAME } from '../hosts.ts'
import { servers, settled, untilReady } from '../observed.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { begin } from './adoptions.ts'

const APPLY = ['apply', '.', '--yes', '--progress', 'plain'] as const

/** The API has a name that resolves to all servers, and each server finds its own address first. */
export async function names(stage: Stage, story: Story): Promise<void> {
  const three = ['h1', 'h2', 'h3']
  await story.step('servers join under a name of the API', async () => {
    await begin(stage, three, [])
    stage.declare({ endpoint: { dns: API_NAME } })
    await stage.mustCroft(APPLY)
    await untilReady(stage, three)
    return await servers(stage)
  })
  await story.step('an agent joins by the name', async () => {
    await stage.lab.boot('h4')
    stage.declare({ agents: ['h4'] })
    await stage.mustCroft(APPLY)
    await untilReady(stage, [...three, 'h4'])
    const { out } = await stage.lab.on('h4', 'cat /etc/rancher/k3s/config.yaml')
    assert.match(out, new RegExp(API_NAME))
    return await settled(stage)
  })
  await story.step('the first server may go', async () => {
    await stage.lab.cutPower('h1')
    await untilReady(stage, ['h2', 'h3', 'h4'], 300)
    await stage.lab.boot('h1')
    await untilReady(stage, [...three, 'h4'])
    return await settled(stage)
  })
}
