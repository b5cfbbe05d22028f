import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { sopsYaml } from '../../src/source/testing/sops-writer.ts'
import { endAll, estateAt, scratch, signal, start, startSimulator } from './children.ts'
import { passwordFrom, webVm } from './web-vm.ts'

after(endAll)

const VM = webVm({ fields: [passwordFrom('users')] })
const FIRST = 'canary-one-hunter2'
const SECOND = 'canary-two-a-much-longer-password-than-before'

interface State {
  readonly guests: readonly { readonly vmid: number; readonly config: Readonly<Record<string, string>> }[]
}

test('[S-18] a secret that changed behind its reference shows as changed and is sent again, never its value or length', async () => {
  const cwd = scratch()
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const estate = path.join(cwd, 'estate')
  const secret = (value: string) =>
    sopsYaml(
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'users' }, stringData: { ubuntu: value } },
      { recipients: [recipient], encryptedRegex: '^(data|stringData)$' },
    )
  estateAt(estate, simulator, { 'vm.yaml': VM, 'users.yaml': await secret(FIRST) })
  const database = path.join(cwd, 'state.db')
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, SOPS_AGE_KEY: identity }
  const croft = (...words: string[]) =>
    start([...words, '--state', database, 'estate'], { cwd, env, longestMs: 100_000 })
  const hash = async () =>
    (await simulator.door<State>('GET', 'state')).guests.find(({ vmid }) => vmid === 205)?.config.cipassword
  const said: string[] = []
  const ended = async (...words: string[]) => {
    const { code, stdout, stderr } = await croft(...words).ended
    said.push(stdout, stderr)
    return { code, stdout, stderr }
  }

  const made = await ended('apply', '--yes', '--timeout', '240s')
  assert.equal(made.code, 0, made.stdout + made.stderr)
  const before = await hash()
  assert.match(String(before), /^\$[156]\$/, 'the host keeps a hash, not the password')
  assert.equal((await ended('plan')).code, 0, 'nothing has changed yet')

  writeFileSync(path.join(estate, 'users.yaml'), await secret(SECOND))
  const plan = await ended('plan')
  assert.equal(plan.code, 2, plan.stdout + plan.stderr)
  assert.match(plan.stdout, /cloudInit\.password/)
  assert.equal(await hash(), before, 'a plan writes nothing')

  const running = start(['run', 'estate', '--state', database, '--listen', 'off', '--poll', '1s'], { cwd, env })
  for (let tries = 0; (await hash()) === before; tries++) {
    assert.ok(tries < 6_000, 'the new password was not sent')
    await sleep(100)
  }
  await sleep(1_500)
  const sent = await hash()
  signal(running, 'SIGTERM')
  const stopped = await running.ended
  said.push(stopped.stdout, stopped.stderr)
  assert.equal(await hash(), sent, 'it is sent once')
  assert.equal((await ended('plan')).code, 0, 'and is in force')

  const key = path.join(cwd, 'secret-prints.key')
  assert.equal(statSync(key).mode & 0o777, 0o600)
  const kept = [database, `${database}-wal`].map((file) => {
    try {
      return readFileSync(file, 'latin1')
    } catch {
      return ''
    }
  })
  for (const text of [...said, ...kept]) {
    for (const value of [FIRST, SECOND])
      for (const form of [value, Buffer.from(value).toString('base64'), Buffer.from(value).toString('hex')])
        assert.ok(!text.includes(form), 'a secret got out')
    assert.ok(!text.includes(readFileSync(key, 'utf8').trim()), 'the key is in the database')
  }
  assert.ok(kept.join('').includes('secret-prints'))
})
