import assert from 'node:assert/strict'
import { sleep } from '../hosts.ts'
import { has, servers, settled, untilReady, write } from '../observed.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

const APPLY = ['apply', '.', '--yes', '--progress', 'plain'] as const

/** Hosts die and come back, servers are replaced and exchanged, and everything is switched off and on. */
export async function losses(stage: Stage, story: Story): Promise<void> {
  const { lab } = stage
  await story.step('a server loses its power', async () => {
    await write(stage, 'loss')
    await lab.cutPower('h3')
    let health = await stage.croft(['health', '.'])
    for (let waited = 0; !/h3/.test(health.out) && waited < 20; waited++) {
      await sleep(5000)
      health = await stage.croft(['health', '.'])
    }
    assert.notEqual(health.code, 0, `croft health says that all is well:\n${health.out}`)
    assert.match(health.out, /h3/)
    assert.ok(await has(stage, 'loss'), 'the two that are left do not answer')
    return (health.out.split('\n').find((line) => line.includes('h3')) ?? '').trim().slice(0, 140)
  })
  await story.step('it comes back', async () => {
    await lab.boot('h3')
    await untilReady(stage, [...stage.declared.servers, ...stage.declared.agents])
    return await settled(stage)
  })
  await story.step('a server is replaced', async () => {
    await stage.mustCroft(['cluster', 'replace', 'lab', 'h2', '--yes'])
    await stage.mustCroft(APPLY, 900)
    await untilReady(stage, [...stage.declared.servers, ...stage.declared.agents])
    assert.ok(await has(stage, 'loss'))
    return await servers(stage)
  })
  await story.step('an agent leaves', async () => {
    stage.declare({ agents: [] })
    await stage.mustCroft(APPLY, 600)
    await untilReady(stage, stage.declared.servers)
    return 'h4 is not a node any more'
  })
  await story.step('h4 takes the place of h3 as a server', async () => {
    stage.declare({ servers: ['h1', 'h2', 'h4'] })
    await stage.mustCroft(APPLY, 900)
    await untilReady(stage, ['h1', 'h2', 'h4'])
    assert.ok(await has(stage, 'loss'))
    return await servers(stage)
  })
  await story.step('and gives it back', async () => {
    stage.declare({ servers: ['h1', 'h2', 'h3'], agents: [] })
    await stage.mustCroft(APPLY, 900)
    await untilReady(stage, ['h1', 'h2', 'h3'])
    stage.declare({ agents: ['h4'] })
    await stage.mustCroft(APPLY, 600)
    await untilReady(stage, ['h1', 'h2', 'h3', 'h4'])
    return await servers(stage)
  })
  await story.step('power off', async () => {
    stage.declare({ power: true })
    await stage.mustCroft(APPLY, 600)
    await stage.mustCroft(['power', 'off', 'site', '--why', 'test', '--yes'], 900)
    for (const name of ['h1', 'h2', 'h3', 'h4']) assert.ok(!lab.isOn(name), `${name} is still on`)
    return 'four hosts are off'
  })
  await story.step('power on', async () => {
    const on = stage.croft(['power', 'on', 'site', '--yes'], 900)
    let over = false
    void on.then(() => (over = true))
    while (!over) {
      const called = stage.woken()
      for (const { name, mac } of lab.hosts.values()) if (called.includes(mac) && !lab.isOn(name)) await lab.boot(name)
      await sleep(500)
    }
    const ran = await on
    assert.equal(ran.code, 0, ran.out)
    await untilReady(stage, ['h1', 'h2', 'h3', 'h4'])
    assert.ok(await has(stage, 'loss'))
    stage.declare({ power: false })
    return `${ran.seconds.toFixed(0)} s after the first packet`
  })
  await story.step('nothing is left to do after all that', () => settled(stage))
}
