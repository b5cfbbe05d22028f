import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { endAll, estateAt, scratch, signal, start, startSimulator } from './children.ts'

after(endAll)

const pool = (name: string, more = '') =>
  `apiVersion: virtualenvironmentpool.crossplane.io/v1alpha1
kind: EnvironmentPool
metadata: {name: ${name}}
spec: {forProvider: {poolId: ${name}, comment: number ${name}${more}}}
`

interface Planned {
  readonly summary: { readonly add: number }
  readonly entries: readonly { readonly key: string }[]
}

test('[S-12] one invalid object among 500: the controller keeps 499 and marks the one, and the CLI plans the rest on request', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const names = Array.from({ length: 500 }, (_, n) => `p${n + 1}`)
  const manifests = names.map((name) => pool(name, name === 'p250' ? ', nonsense: 1' : ''))
  estateAt(path.join(cwd, 'estate'), simulator, { 'pools.yaml': manifests.join('---\n') })
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, CROFT_STATE: path.join(cwd, 'state.db') }
  const ended = (...words: string[]) => start(words, { cwd, env }).ended

  const refused = await ended('plan', 'estate')
  assert.equal(refused.code, 1, 'without being asked it does nothing')
  assert.match(refused.stdout + refused.stderr, /pools\.yaml:\d+:\d+[\s\S]*nonsense/)
  const planned = await ended('plan', 'estate', '--keep-going', '-o', 'json')
  const plan = JSON.parse(planned.stdout) as Planned
  assert.equal(plan.summary.add, 499)
  assert.ok(!plan.entries.some(({ key }) => key.endsWith('/p250')))

  const running = start(['run', 'estate', '--listen', '127.0.0.1:0', '--poll', '60s'], { cwd, env })
  let said = ''
  running.child.stderr?.on('data', (chunk: string) => {
    said += chunk
  })
  interface View {
    readonly rows: readonly { readonly key: string; readonly do: string; readonly synced: string }[]
    readonly problems: readonly { readonly object?: string; readonly message: string }[]
  }
  let view: View = { rows: [], problems: [] }
  for (let tries = 0; ; tries++) {
    const url = /The page is at (\S+)/.exec(said)?.[1]
    if (url !== undefined) view = (await (await fetch(`${url}/api/view`)).json()) as View
    const kept = view.rows.filter((row) => row.do === 'nothing' && row.synced === 'True').length
    if (kept === 499) break
    assert.ok(tries < 6_000, `${kept} of ${view.rows.length} are as declared`)
    await sleep(100)
  }
  assert.deepEqual(
    view.problems.map(({ object }) => object),
    ['EnvironmentPool/p250'],
    'the one is marked',
  )
  signal(running, 'SIGTERM')
  assert.equal((await running.ended).code, 0)
  const after = await ended('plan', 'estate', '--keep-going')
  assert.match(after.stdout, /^No changes\. All 499 declared resources are as declared/m)
})
