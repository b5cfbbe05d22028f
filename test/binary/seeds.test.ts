import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { WITHOUT_EVIDENCE } from '../evidence/of-others.ts'
import { seedManifest, seedManifests } from '../seeds.ts'
import { type Ended, endAll, estateAt, scratch, start, startSimulator } from './children.ts'

after(endAll)

const SPEED = ['--speed', '100']
const MACHINE = 'EnvironmentVM/k3s-vm-fun-bedbug'

test('seed 001: validate, plan, apply, plan again, and look', { skip: WITHOUT_EVIDENCE }, async () => {
  const cwd = scratch()
  const simulator = await startSimulator(SPEED, cwd)
  estateAt(path.join(cwd, 'estate'), simulator, { 'k3s-vm-fun-bedbug.yaml': seedManifest('001:133').text })
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  const croft = (...args: readonly string[]) => start(args, { cwd, env }).ended

  const validated = await croft('validate', 'estate')
  assert.equal(validated.code, 0, said(validated))

  const planned = await croft('plan', 'estate')
  assert.equal(planned.code, 2, said(planned))
  inOrder(planned.stdout, [
    /^ +\+ EnvironmentVM\/k3s-vm-fun-bedbug +VM 114 on fun-bedbug +k3s-vm-fun-bedbug\.yaml:1$/m,
    /^ +1\. create VM 114 \(k3s-vm-fun-bedbug\) on fun-bedbug$/m,
    /^ +2\. grow scsi0 of VM 114 to 50 GiB$/m,
    /^ +3\. start VM 114 on fun-bedbug$/m,
    /^Plan: 1 to add, 0 to change, 0 to destroy\. Disruption: none\.$/m,
  ])
  assert.equal((await simulator.stats()).writes, 0, 'planning wrote')

  const applied = await croft('apply', '--yes', 'estate')
  assert.equal(applied.code, 0, said(applied))
  // A plan ends with what to do next, which apply does.
  const [shown = ''] = planned.stdout.split(/\n+Next: /)
  assert.ok(applied.stdout.startsWith(shown), `apply shows another plan than plan did\n${said(applied)}`)
  assert.match(applied.stdout, /^Apply complete! Resources: 1 added, 0 changed, 0 destroyed\.$/m)
  assert.match(applied.stdout, /^EnvironmentVM\/k3s-vm-fun-bedbug +True +True +Running +/m)

  const before = await simulator.stats()
  assert.equal(before.writes, 3)
  const again = await croft('plan', 'estate')
  assert.equal(again.code, 0, said(again))
  assert.match(again.stdout, /^No changes\. The 1 declared resource is as declared\.$/m)
  const afterwards = await simulator.stats()
  assert.equal(afterwards.writes, before.writes, 'the second plan wrote')
  assert.ok(afterwards.calls > before.calls, 'the second plan did not look')

  const [got, described, happened, reapplied] = await Promise.all([
    croft('get', '--dir', 'estate'),
    croft('describe', MACHINE, '--dir', 'estate'),
    croft('events', '--dir', 'estate'),
    croft('apply', '--yes', 'estate'),
  ])
  assert.equal(got.code, 0, said(got))
  assert.match(got.stdout, /^NAME +SYNCED +READY +STATUS +AGE$/m)
  assert.match(got.stdout, /^EnvironmentVM\/k3s-vm-fun-bedbug +True +True +Running +/m)
  assert.equal(described.code, 0, said(described))
  assert.match(described.stdout, /^External id: +114 on fun-bedbug$/m)
  assert.match(described.stdout, /^ +Ready +True +AgentUp +/m)
  assert.equal(happened.code, 0, said(happened))
  inOrder(happened.stdout, [/ Started +\S+ +create VM 114/, / Done +\S+ +create VM 114/, / Ready +\S+ +VM 114/])
  assert.equal(reapplied.code, 0, said(reapplied))
  assert.equal((await simulator.stats()).writes, 3, 'applying again wrote')
  for (const ended of [validated, planned, applied, again, got, described, happened])
    assert.ok(!said(ended).includes(simulator.token.split('=')[1] ?? '?'), 'the token was shown')
})

test('seeds 000 and 004: each manifest alone has an exact plan or a reason', { skip: WITHOUT_EVIDENCE }, async () => {
  const cwd = scratch()
  const simulator = await startSimulator(SPEED, cwd)
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  const expected: Readonly<Record<string, readonly [number, RegExp]>> = {
    // A snippet, and no Host says how its host is reached.
    '000:25': [2, /EnvironmentFile[\s\S]*needs the SSH lane to/],
    // It names no storage, so local-lvm is meant.
    '000:124': [2, /1\. create VM 114 .*\n +2\. grow scsi0 of VM 114 to 50 GiB\n +3\. start VM 114/],
    '001:133': [2, /^Plan: 1 to add/m],
    '004:55': [2, /\+ EnvironmentVM\/k3s-vm-still-fawn +VM 108 on still-fawn[\s\S]*2\. start VM 108/],
    '004:380': [2, /\+ EnvironmentVM\/k3s-vm-still-fawn +VM 108 on still-fawn[\s\S]*2\. start VM 108/],
  }
  const manifests = seedManifests()
  assert.deepEqual(manifests.map(({ place }) => place).sort(), Object.keys(expected).sort())
  await Promise.all(
    manifests.map(async ({ place, text }) => {
      const directory = place.replace(':', '-')
      const connection = /providerConfigRef:\n +name: (\S+)/.exec(text)?.[1]
      estateAt(path.join(cwd, directory), simulator, { 'manifest.yaml': text }, connection)
      const planned = await start(['plan', directory], { cwd, env }).ended
      const [code, shown] = expected[place] ?? [undefined, /never/]
      assert.equal(planned.code, code, `${place}\n${said(planned)}`)
      assert.match(planned.stdout, shown, place)
    }),
  )
  assert.equal((await simulator.stats()).writes, 0)

  const applied = await start(['apply', '--yes', '004-380'], { cwd, env }).ended
  assert.equal(applied.code, 0, said(applied))
  const again = await start(['plan', '004-380'], { cwd, env }).ended
  assert.equal(again.code, 0, said(again))
  assert.equal((await simulator.stats()).writes, 2)
})

test('[S-04] a certificate that is not the declared one: both shown, not one call made', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(SPEED, cwd)
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  const pinned = Array.from({ length: 32 }, () => '5A').join(':')
  estateAt(path.join(cwd, 'estate'), { ...simulator, fingerprint: pinned }, {})
  for (const args of [
    ['plan', 'estate'],
    ['apply', '--yes', 'estate'],
  ]) {
    const ended = await start(args, { cwd, env }).ended
    assert.ok(ended.code !== 0 && ended.code !== 2, said(ended))
    assert.ok(said(ended).includes(pinned), `the declared fingerprint is not shown\n${said(ended)}`)
    assert.ok(said(ended).includes(simulator.fingerprint), `the real fingerprint is not shown\n${said(ended)}`)
    assert.ok(!said(ended).includes(simulator.token.split('=')[1] ?? '?'), 'the token was shown')
  }
  assert.equal((await simulator.stats()).calls, 0)
})

test('[S-17] a token that is not accepted: exit 4, and nothing of it is shown', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(SPEED, cwd)
  const secret = 'b1946ac9-2492-4d23-a5c2-000000000000'
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: `root@pam!croft=${secret}` }
  estateAt(path.join(cwd, 'estate'), simulator, {})
  for (const args of [
    ['plan', 'estate'],
    ['apply', '--yes', 'estate'],
  ]) {
    const ended = await start(args, { cwd, env }).ended
    assert.equal(ended.code, 4, said(ended))
    assert.ok(!said(ended).includes(secret), 'the token was shown')
  }
  assert.equal((await simulator.stats()).writes, 0)
})

function said({ stdout, stderr }: Ended): string {
  return `${stdout}\n${stderr}`
}

/** Each pattern is found, one after the other. */
function inOrder(text: string, patterns: readonly RegExp[]): void {
  let from = -1
  for (const pattern of patterns) {
    assert.match(text, pattern)
    const at = text.search(pattern)
    assert.ok(at > from, `${pattern} comes too early in\n${text}`)
    from = at
  }
}
