import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { config, declare, engineFor, estateOf, hostsYaml, settle } from './keep.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow', 'sheep', 'duck'])

const signal = () => new AbortController().signal

test('a change of sshd that would lock us out is taken back by itself', within, async () => {
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

test('[S-05] a host that shows another key is refused as a whole, and the others go on', within, async () => {
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

test('a user with a password for sudo is enough, and the password is no input of a program', within, async () => {
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

test('words for the kernel are written down, and the restart is asked for', within, async () => {
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
