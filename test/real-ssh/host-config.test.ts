import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Estate } from '../../src/model/estate.ts'
import { fortyItems } from './forty-items.ts'
import { engineFor, estateOf, hostsYaml, settle } from './keep.ts'
import { type Lab, labMissing, openLab } from './lab.ts'

const skip = labMissing() ?? false
let opened: Promise<Lab> | undefined
const lab = () => (opened ??= openLab(['cow', 'sheep', 'duck']))
after(async () => (await opened)?.close())

const signal = () => new AbortController().signal
const config = (name: string, hosts: string, spec: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: HostConfig\nmetadata: {name: ${name}}\nspec:\n  hosts: [${hosts}]\n${spec}`

async function declare(one: Lab, configs: string): Promise<Estate> {
  const estate = await estateOf(join(one.directory, `git-${Math.abs(hash(configs))}`), {
    'hosts.yaml': hostsYaml(one),
    'config.yaml': configs,
  })
  assert.deepEqual(estate.problems, [])
  return estate
}

function hash(text: string): number {
  let value = 0
  for (const char of text) value = (value * 31 + (char.codePointAt(0) ?? 0)) | 0
  return value
}

test('forty items are put in place on a host, and a second run finds nothing to do', {
  skip,
  timeout: 55_000,
}, async () => {
  const one = await lab()
  const [cow] = one.hosts
  assert.ok(cow)
  const estate = await declare(one, fortyItems('lab', '[cow]'))
  assert.equal(estate.resources.length, 40)
  const { engine, store } = engineFor(one)
  const { last } = await settle(engine, estate)
  const left = last.plan.entries.filter(({ action }) => action.do !== 'nothing')
  assert.deepEqual(
    left.map(({ key, action }) => `${key} ${JSON.stringify(action)}`),
    [],
  )
  assert.ok(last.records.every((record) => record.status === 'InPlace'))
  assert.equal(
    readFileSync(join(cow.root, 'etc/lab/file-3.conf'), 'utf8'),
    "setting = 3\nname = '$(touch /tmp/pwned)'\n",
  )
  assert.equal(existsSync(join(cow.root, 'tmp/pwned')), false, '[S-01]')
  const shell = one.shells.open(cow.target())
  assert.equal(
    (await shell.run(['systemctl', 'is-active', 'lab-sleep.service', 'lab-tick.timer'])).stdout,
    'active\nactive\n',
  )
  assert.equal((await shell.run(['stat', '-c', '%U %a', '/srv/app/config.yaml'])).stdout, 'deploy 600\n')
  assert.match((await shell.run(['sshd', '-T'])).stdout, /^passwordauthentication no$/m)
  await shell.close()
  const again = await engine.pass(estate, signal())
  assert.equal(again.effects, 0)
  await engine.close()

  // A store that knows nothing finds everything as it should be, too.
  const fresh = engineFor(one)
  assert.equal((await fresh.engine.pass(estate, signal())).effects, 0)
  await fresh.engine.close()
  await store.close()
})

test('what somebody changed on a host is shown with old and new, and put right', {
  skip,
  timeout: 55_000,
}, async () => {
  const one = await lab()
  const sheep = one.hosts[1]
  assert.ok(sheep)
  const estate = await declare(
    one,
    config('drift', 'sheep', '  files:\n    - {path: /etc/motd, content: "kept by Git\\n"}\n'),
  )
  const { engine } = engineFor(one)
  await settle(engine, estate)
  writeFileSync(join(sheep.root, 'etc/motd'), 'changed by hand\n')
  const plan = await engine.plan(estate, signal())
  const [entry] = plan.entries
  assert.equal(entry?.drift, true)
  assert.ok(entry?.action.do === 'update')
  assert.deepEqual(entry.action.changes, [
    { path: 'content', from: 'changed by hand\n', to: 'kept by Git\n', effect: 'live' },
  ])
  await settle(engine, estate)
  assert.equal(readFileSync(join(sheep.root, 'etc/motd'), 'utf8'), 'kept by Git\n')
  await engine.close()
})

test('what is no longer declared is taken back to how it was', {
  skip,
  timeout: 55_000,
}, async () => {
  const one = await lab()
  const duck = one.hosts[2]
  assert.ok(duck)
  const at = (path: string) => join(duck.root, path)
  writeFileSync(at('etc/issue'), 'as it was\n')
  writeFileSync(at('etc/left-alone'), 'already right\n')
  const base = '  directories:\n    - {path: /srv/kept}\n'
  const items = `${base}  files:\n    - {path: /etc/issue, content: "other\\n"}\n    - {path: /etc/new-file, content: "new\\n"}\n    - {path: /etc/left-alone, content: "already right\\n"}\n  users:\n    - {name: guest1}\n`
  const { engine, store } = engineFor(one)
  await settle(engine, await declare(one, config('undo', 'duck', items)))
  assert.equal(readFileSync(at('etc/issue'), 'utf8'), 'other\n')
  assert.match(readFileSync(at('etc/passwd'), 'utf8'), /^guest1:/m)
  await settle(engine, await declare(one, config('undo', 'duck', base)))
  assert.equal(readFileSync(at('etc/issue'), 'utf8'), 'as it was\n')
  assert.equal(existsSync(at('etc/new-file')), false)
  assert.equal(existsSync(at('etc/left-alone')), true, 'what was right from the beginning is nobody’s to remove')
  assert.doesNotMatch(readFileSync(at('etc/passwd'), 'utf8'), /^guest1:/m)
  await engine.close()
  await store.close()
})

test('a change of sshd that would lock us out is taken back by itself', { skip, timeout: 55_000 }, async () => {
  const one = await lab()
  const sheep = one.hosts[1]
  assert.ok(sheep)
  const { engine } = engineFor(one)
  const estate = await declare(one, config('door', 'sheep', '  sshd: {allowUsers: [nobody]}\n'))
  const report = await engine.pass(estate, signal())
  assert.equal(report.effects, 1)
  const [record] = report.records
  assert.match(record?.failure?.message ?? '', /does not let root in/)
  assert.equal(existsSync(join(sheep.root, 'etc/ssh/sshd_config.d/00-croft.conf')), false)
  await engine.close()
  const shell = one.shells.open(sheep.target({ name: 'again' }))
  assert.equal((await shell.run(['echo', 'in'])).stdout, 'in\n')
  assert.equal((await shell.run(['systemctl', 'is-active', 'croft-revert-sshd.timer'])).stdout, 'inactive\n')
  await shell.close()
})

test('[S-05] a host that shows another key is refused as a whole, and the others go on', {
  skip,
  timeout: 55_000,
}, async () => {
  const one = await lab()
  const [cow, sheep] = one.hosts
  assert.ok(cow && sheep)
  const swapped = hostsYaml(one).replace(cow.hostKey, sheep.hostKey)
  const configs = config('keys', 'cow, duck', '  directories:\n    - {path: /srv/keyed}\n')
  const estate = await estateOf(join(one.directory, 'git-swapped'), { 'hosts.yaml': swapped, 'config.yaml': configs })
  const { engine } = engineFor(one)
  const { last } = await settle(engine, estate, 3)
  const noted = last.plan.notes.find((note) => note.connection === 'host/cow')
  assert.equal(noted?.code, 'refused')
  assert.match(noted?.message ?? '', /shows the host key .* but Git names/)
  assert.equal(existsSync(join(cow.root, 'srv/keyed')), false)
  assert.equal(existsSync(join(one.hosts[2]?.root ?? '', 'srv/keyed')), true)
  await engine.close()
})

test('a user with a password for sudo is enough, and the password is no input of a program', {
  skip,
  timeout: 55_000,
}, async () => {
  const one = await lab()
  const [cow, , duck] = one.hosts
  assert.ok(cow && duck)
  process.env.LAB_SUDO = 'let-me-in'
  writeFileSync(join(duck.root, 'etc/sudoers.d/lab'), 'k3s ALL=(ALL:ALL) ALL\n', { mode: 0o440 })
  const asked = one.shells.open(
    duck.target({ name: 'with password', user: 'k3s', sudo: { password: { env: 'LAB_SUDO' } } }),
  )
  assert.equal((await asked.run(['sh', '-c', 'id -u; cat'], { input: 'the input' })).stdout, '0\nthe input')
  await asked.writeFile('/root/secret', 'x', { mode: 0o600 })
  assert.equal(Buffer.from((await asked.readFile('/root/secret')) ?? []).toString(), 'x')
  await asked.close()
  // sudo asks for none: the password must not become input.
  writeFileSync(join(duck.root, 'etc/sudoers.d/lab'), 'k3s ALL=(ALL:ALL) NOPASSWD: ALL\n', { mode: 0o440 })
  const unasked = one.shells.open(
    duck.target({ name: 'not asked', user: 'k3s', sudo: { password: { env: 'LAB_SUDO' } } }),
  )
  assert.equal((await unasked.run(['cat'], { input: 'only this' })).stdout, 'only this')
  await unasked.close()
  const free = one.shells.open(duck.target({ name: 'free', user: 'k3s', sudo: 'passwordless' }))
  assert.equal((await free.run(['id', '-u'])).stdout, '0\n')
  await free.close()
  const denied = one.shells.open(cow.target({ name: 'denied', user: 'k3s', sudo: 'passwordless' }))
  await assert.rejects(denied.run(['id', '-u']), /may not become root on denied/)
  await denied.close()
})

test('words for the kernel are written down, and the restart is asked for', { skip, timeout: 55_000 }, async () => {
  const one = await lab()
  const duck = one.hosts[2]
  assert.ok(duck)
  const shell = one.shells.open(duck.target())
  await shell.run(['mkdir', '-p', '/boot/firmware'])
  await shell.writeFile('/boot/firmware/cmdline.txt', 'console=tty1 root=PARTUUID=1 rootwait\n')
  await shell.close()
  const { engine } = engineFor(one)
  const estate = await declare(
    one,
    config('kernel', 'duck', '  kernel: {args: [cgroup_memory=1, cgroup_enable=memory]}\n'),
  )
  const { last } = await settle(engine, estate, 5)
  assert.equal(
    readFileSync(join(duck.root, 'boot/firmware/cmdline.txt'), 'utf8'),
    'console=tty1 root=PARTUUID=1 rootwait cgroup_memory=1 cgroup_enable=memory\n',
  )
  const [entry] = last.plan.entries
  assert.ok(entry?.action.do === 'refuse')
  assert.match(entry.action.reason, /after duck was restarted/)
  assert.match(entry.action.allow, /croft host reboot duck/)
  await engine.close()
})
