import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, estateAt, scratch, start, startSimulator } from './children.ts'
import { webVm } from './web-vm.ts'

after(endAll)

test('[D-11] health beside a manifest with an error: the place and the cause as on the page, and nothing is called removed', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const estate = path.join(cwd, 'estate')
  estateAt(estate, simulator, { 'vm.yaml': webVm({ memory: 2048 }) })
  mkdirSync(path.join(cwd, 'data'))
  const env = {
    HOME: path.join(cwd, 'home'),
    PROXMOX_TOKEN: simulator.token,
    CROFT_STATE: path.join(cwd, 'data/croft.db'),
  }
  const croft = (...words: readonly string[]) => start(words, { cwd, env }).ended
  const applied = await croft('apply', '--yes', '--timeout', '240s', 'estate')
  assert.equal(applied.code, 0, applied.stdout + applied.stderr)
  writeFileSync(path.join(estate, 'vm.yaml'), webVm({ memory: 2048 }).replace('forProvider:', 'forProvidr:'))
  const judged = await croft('health', 'estate')
  assert.equal(judged.code, 1, judged.stdout)
  assert.match(judged.stdout, /^bad {2}manifests: \d errors?$/m)
  assert.match(judged.stdout, /^bad {2}manifest vm\.yaml:\d+: vm\.yaml:\d+ is not valid\n.*forProvidr/m)
  assert.doesNotMatch(judged.stdout, /held|no longer declared/)
  // A file that is no YAML does not tell what it declared.
  writeFileSync(path.join(estate, 'vm.yaml'), 'kind: [\n')
  const unread = await croft('health', 'estate')
  assert.equal(unread.code, 1, unread.stdout)
  assert.match(unread.stdout, /^bad {2}manifest vm\.yaml:\d+: /m)
  assert.doesNotMatch(unread.stdout, /held|no longer declared/)
  assert.match(
    unread.stdout,
    /no valid manifest declares EnvironmentVM\/web-1; one with an error may\n {7}→ croft validate/,
  )
  const { troubles, undecided } = JSON.parse((await croft('health', '--json', 'estate')).stdout) as {
    readonly troubles: readonly { readonly key: string }[]
    readonly undecided: readonly string[]
  }
  assert.deepEqual([...new Set(troubles.map(({ key }) => key.replace(/:\d+$/, '')))], ['manifest vm.yaml'])
  assert.deepEqual(undecided, ['EnvironmentVM/web-1'])
})
