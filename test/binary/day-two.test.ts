import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, estateAt, scratch, start, startSimulator } from './children.ts'
import { webVm } from './web-vm.ts'

after(endAll)

const uidIn = (file: string) => /uid: "([0-9a-f]{16})"/.exec(readFileSync(file, 'utf8'))?.[1]
const planLine = (text: string) => /^(?:Plan:|No changes\.).*$/m.exec(text)?.[0]

test('[D-01] [D-02] croft init names a directory and makes its key; a lost Estate, a rename and a copy change nothing', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const at = (name: string) => path.join(cwd, name)
  estateAt(at('estate'), simulator, { 'vm.yaml': webVm({ memory: 2048 }) })
  const env = { HOME: at('home'), PROXMOX_TOKEN: simulator.token }
  const croft = async (...words: string[]) => {
    const { code, stdout, stderr } = await start(words, { cwd, env }).ended
    return { code, stdout, stderr, all: `${stdout}${stderr}` }
  }

  const nameless = await croft('plan', 'estate')
  assert.match(nameless.stderr, /has no estate\.yaml yet.*croft init/)
  const begun = await croft('init', 'estate')
  assert.equal(begun.code, 0, begun.all)
  const uid = uidIn(at('estate/estate.yaml'))
  assert.ok(uid, begun.all)
  const key = /age key is in (\S+) /.exec(begun.stderr)?.[1] ?? ''
  assert.match(readFileSync(key, 'utf8'), /AGE-SECRET-KEY-1/)
  assert.match((await croft('init', 'estate')).stderr, /has its Estate already/)
  assert.equal(uidIn(at('estate/estate.yaml')), uid)

  const applied = await croft('apply', '--yes', '--timeout', '240s', 'estate')
  assert.equal(applied.code, 0, applied.all)
  assert.match(planLine((await croft('plan', 'estate')).stdout) ?? '', /^No changes/)

  // The file is lost and the database is not: what a plan says is what an apply does.
  rmSync(at('estate/estate.yaml'))
  const lost = await croft('plan', 'estate')
  assert.match(lost.stderr, new RegExp(`Estate of this directory is missing.*${uid}`))
  assert.match(planLine(lost.stdout) ?? '', /^No changes/, lost.all)
  const again = await croft('apply', '--yes', '--timeout', '240s', 'estate')
  assert.equal(planLine(again.stdout), planLine(lost.stdout), again.all)
  assert.equal(uidIn(at('estate/estate.yaml')), uid, again.all)

  // Renamed: the same history, the same key.
  const before = (await croft('events', '--dir', 'estate')).stdout.split('\n').filter((line) => line !== '')
  assert.ok(before.length > 1)
  renameSync(at('estate'), at('house'))
  const after = (await croft('events', '--dir', 'house')).stdout.split('\n').filter((line) => line !== '')
  assert.equal(after.length, before.length, 'its history is found by its uid')
  assert.match((await croft('init', 'house')).stderr, new RegExp(`age key is in ${key} `))
  assert.equal((await croft('apply', '--yes', '--timeout', '240s', 'house')).code, 0)

  // A copy beside it has a separate history, and the same key.
  cpSync(at('house'), at('copy'), { recursive: true })
  assert.match((await croft('plan', 'copy')).stdout, /^No changes/m)
  assert.match((await croft('init', 'copy')).stderr, new RegExp(`age key is in ${key} `))
  assert.doesNotMatch((await croft('events', '--dir', 'copy')).stdout, /Created/)
  assert.ok(existsSync(at('house')))
})
