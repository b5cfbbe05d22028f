import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fortyItems } from './forty-items.ts'
import { config, declare, engineFor, settle } from './keep.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow', 'sheep', 'duck'])

const signal = () => new AbortController().signal
test('forty items are put in place on a host, and a second run finds nothing to do', within, async () => {
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
    "setting = 3\nname = '$(touch /var/pwned)'\n",
  )
  assert.equal(existsSync(join(cow.root, 'var/pwned')), false, '[S-01]')
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

test('what somebody changed on a host is shown with old and new, and put right', within, async () => {
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

test('what is no longer declared is taken back to how it was', within, async () => {
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
