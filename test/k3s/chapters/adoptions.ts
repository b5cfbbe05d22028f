import assert from 'node:assert/strict'
import { formByHand } from '../by-hand.ts'
import { has, settled, untilReady, write } from '../observed.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

const APPLY = ['apply', '.', '--yes', '--progress', 'plain'] as const

/** Takes over clusters that were made without croft: croft reads what it needs, and changes nothing until it is told to. */
export async function adoptions(stage: Stage, story: Story): Promise<void> {
  const { lab } = stage
  const three = ['h1', 'h2', 'h3']
  await story.step('three servers made by hand are taken over', async () => {
    await begin(stage, three, [])
    await formByHand(stage, three)
    stage.declare({ more: { disable: ['traefik'] } })
    const before = await configs(stage, three)
    const held = await stage.mustCroft(APPLY, 300, 3)
    assert.match(held.out, /was not set up by croft/)
    await untilReady(stage, three)
    await write(stage, 'byhand')
    assert.deepEqual(await configs(stage, three), before, 'a file of a node was changed')
    return told(held.out)
  })
  await story.step('what is offered makes Git say what runs', async () => {
    stage.declare({ more: {} })
    await stage.mustCroft(APPLY, 300)
    return await settled(stage)
  })
  await story.step('an agent joins the cluster made by hand', async () => {
    await lab.boot('h4')
    stage.declare({ agents: ['h4'] })
    await stage.mustCroft(APPLY, 600)
    await untilReady(stage, [...three, 'h4'])
    return 'h4 Ready by kubectl'
  })
  await story.step('takeOver: it is made as declared', async () => {
    stage.declare({ more: { allow: { takeOver: true } }, serverFlags: { 'kube-apiserver-arg': ['event-ttl=45m'] } })
    await stage.mustCroft(APPLY, 1200)
    for (const config of await configs(stage, three)) assert.match(config, /event-ttl=45m/)
    await untilReady(stage, [...three, 'h4'])
    assert.ok(await has(stage, 'byhand'), 'an object was lost')
    return await settled(stage)
  })
  await story.step('one server with SQLite is taken over', async () => {
    await begin(stage, ['h5'], [])
    await formByHand(stage, ['h5'], 'sqlite')
    const before = await configs(stage, ['h5'])
    await stage.mustCroft(APPLY, 300)
    await untilReady(stage, ['h5'])
    assert.deepEqual(await configs(stage, ['h5']), before, 'a file of the node was changed')
    return await settled(stage)
  })
  await story.step('a second server is kept out of SQLite', async () => {
    await lab.boot('h1')
    stage.declare({ servers: ['h5', 'h1'], more: { allow: { degraded: true } } })
    const ran = await stage.croft(APPLY, 300)
    assert.notEqual(ran.code, 0, ran.out)
    assert.match(ran.out, /SQLite/)
    await untilReady(stage, ['h5'])
    return told(ran.out, /SQLite/)
  })
  await begin(stage, three, [])
}

/** Empty disks, nothing known, and the lane's own declaration. */
export async function begin(stage: Stage, servers: readonly string[], agents: readonly string[]): Promise<void> {
  for (const name of stage.lab.hosts.keys()) await stage.lab.emptyDisk(name)
  await stage.lab.boot(...servers, ...agents)
  stage.forget()
  const [program] = stage.programs
  stage.declare({
    servers,
    agents,
    version: program?.version ?? '',
    more: {},
    serverFlags: undefined,
    endpoint: undefined,
  })
}

function configs(stage: Stage, names: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    names.map(
      async (name) => (await stage.lab.on(name, 'cat /etc/rancher/k3s/config.yaml; ls -l /etc/rancher/k3s')).out,
    ),
  )
}

function told(out: string, what = /was not set up by croft/): string {
  return (out.split('\n').find((line) => what.test(line)) ?? '').trim().slice(0, 140)
}
