import assert from 'node:assert/strict'
import { has, settled, write } from '../observed.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

const APPLY = ['apply', '.', '--yes', '--progress', 'plain'] as const

/** What is declared changes, and the cluster follows without losing anything. */
export async function changes(stage: Stage, story: Story): Promise<void> {
  const second = stage.programs[1]
  await story.step('a changed flag goes round all servers', async () => {
    await write(stage, 'flag')
    const flag = stage.declared.serverFlags === undefined
    stage.declare({ serverFlags: flag ? { 'kube-apiserver-arg': ['event-ttl=30m'] } : undefined })
    await stage.mustCroft(APPLY, 900)
    for (const name of stage.declared.servers) {
      const { out } = await stage.lab.on(name, 'cat /etc/rancher/k3s/config.yaml')
      assert.equal(out.includes('event-ttl=30m'), flag, `config.yaml of ${name}: ${out}`)
    }
    assert.ok(await has(stage, 'flag'))
    return `event-ttl ${flag ? 'set' : 'unset'} on ${stage.declared.servers.join(', ')}`
  })
  if (second !== undefined) {
    await story.step(`an upgrade to ${second.version}`, async () => {
      await write(stage, 'upgrade')
      stage.declare({ version: second.version })
      await stage.mustCroft(APPLY, 1200)
      const { out } = await stage.kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].status.nodeInfo.kubeletVersion}')
      assert.deepEqual([...new Set(out.split(' '))], [second.version])
      assert.ok(await has(stage, 'upgrade'))
      return `every node says ${second.version}`
    })
  }
  await story.step('nothing is left to do after it', () => settled(stage))
}
