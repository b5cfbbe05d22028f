import assert from 'node:assert/strict'
import { has, pingPong, settled, snapshot, untilReady, write } from '../observed.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { restored } from './restores.ts'

/** Everything secret is exchanged; and a snapshot from before each exchange still leads back. */
export async function rotations(stage: Stage, story: Story): Promise<void> {
  for (const what of ['ca', 'encryption-keys', 'certificates', 'token']) {
    let before = ''
    await story.step(`${what}: rotated`, async () => {
      await write(stage, 'before')
      await stage.kubectl('delete', 'configmap/after', 'secret/after', '--ignore-not-found')
      before = await snapshot(stage)
      await write(stage, 'after')
      const leaves = await fingerprints(stage)
      const ran = await stage.mustCroft(['cluster', 'rotate', 'lab', what, '--yes'], 900)
      await untilReady(stage, [...stage.declared.servers, ...stage.declared.agents])
      assert.ok((await has(stage, 'before')) && (await has(stage, 'after')), 'an object was lost')
      const anew = (await fingerprints(stage)).filter((leaf) => !leaves.includes(leaf)).length
      if (what === 'certificates' || what === 'ca') assert.equal(anew, leaves.length, 'a certificate stayed')
      return `${ran.seconds.toFixed(0)} s; ${anew} certificates anew; ${await pingPong(stage, 'rotated')}`
    })
    await story.step(`${what}: nothing is left to do`, () => settled(stage))
    if (what === 'token') await story.step('token: a drill of the newest backup', () => drilled(stage))
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

/** The newest backup, which may be from before the rotation, opens with the token that it was taken with. */
async function drilled(stage: Stage): Promise<string> {
  await stage.lab.emptyDisk('h5')
  await stage.lab.boot('h5')
  const ran = await stage.mustCroft(['cluster', 'backup', 'lab', '--drill', 'h5', '--yes'], 600)
  return (ran.out.trim().split('\n').at(-1) ?? '').slice(0, 140)
}

/** The certificates that every server of the API, and every kubelet, shows. */
async function fingerprints(stage: Stage): Promise<readonly string[]> {
  const { servers, agents } = stage.declared
  const files = [
    ...servers.map((name) => [name, 'server/tls/serving-kube-apiserver.crt'] as const),
    ...[...servers, ...agents].map((name) => [name, 'agent/client-kubelet.crt'] as const),
  ]
  const found = files.map(([name, file]) => stage.lab.on(name, `sha256sum </var/lib/rancher/k3s/${file}`))
  return (await Promise.all(found)).map(({ out }) => out)
}
