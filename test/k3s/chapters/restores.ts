import assert from 'node:assert/strict'
import { has, settled, snapshot, untilReady, write } from '../observed.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

/** Snapshots, what they prove on another machine, and the way back to one. */
export async function restores(stage: Stage, story: Story): Promise<void> {
  let taken = ''
  await story.step('a snapshot', async () => {
    await write(stage, 'before')
    await stage.kubectl('delete', 'configmap/after', 'secret/after', '--ignore-not-found')
    taken = await snapshot(stage)
    await write(stage, 'after')
    return taken
  })
  await story.step('a drill on a fifth host', async () => {
    await stage.lab.emptyDisk('h5')
    await stage.lab.boot('h5')
    const ran = await stage.mustCroft(['cluster', 'backup', 'lab', '--drill', 'h5', '--yes'], 600)
    return (ran.out.trim().split('\n').at(-1) ?? '').slice(0, 140)
  })
  await story.step('a restore on the same servers', () => restored(stage, taken))
  await story.step('nothing is left to do after the restore', () => settled(stage))
  await story.step('a restore on empty disks', async () => {
    const { lab } = stage
    const servers = stage.declared.servers
    const [first = ''] = servers
    const { out: path } = await lab.on(first, `ls /var/lib/rancher/k3s/server/db/snapshots/${taken}`)
    const copy = (await lab.on(first, `base64 ${path.trim()}`)).out
    for (const name of [...servers, ...stage.declared.agents]) await lab.emptyDisk(name)
    await lab.boot(...servers, ...stage.declared.agents)
    const put = await lab.on(
      first,
      `mkdir -p ${path.trim().replace(/\/[^/]*$/, '')} && base64 -d >${path.trim()}`,
      copy,
    )
    assert.equal(put.code, 0, put.out)
    return await restored(stage, taken, ['--server', first])
  })
  await story.step('nothing is left to do after that', () => settled(stage))
}

/** Restores and lets croft bring everybody back; what was made after the snapshot is gone. */
export async function restored(stage: Stage, name: string, more: readonly string[] = []): Promise<string> {
  const ran = await stage.mustCroft(['cluster', 'restore', 'lab', name, ...more, '--yes', '--confirm', 'lab'], 900)
  await stage.mustCroft(['apply', '.', '--yes', '--progress', 'plain'], 900)
  await untilReady(stage, [...stage.declared.servers, ...stage.declared.agents])
  assert.ok(await has(stage, 'before'), 'what was in the snapshot is not there')
  assert.ok(!(await has(stage, 'after')), 'what was made after the snapshot is still there')
  return `back to ${name} in ${ran.seconds.toFixed(0)} s; the later object is gone`
}
