import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readText } from '../../src/source/testing/fixture.ts'
import { CROFT, croft, declared } from './as-a-person.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow', 'sheep', 'duck'])
const local = mkdtempSync(join(tmpdir(), 'croft-host-verbs-'))
after(() => {
  rmSync(local, { recursive: true, force: true })
})

test('a program runs as root with its words as they are, and its code is the code of the command', within, async () => {
  const one = await lab()
  const ran = croft(one, [
    'run',
    'sheep',
    '--dir',
    declared(one),
    '--',
    'sh',
    '-c',
    'id -un; hostname; printf "[%s]" "$@"; exit 9',
    'sh',
    "a'b",
    '$(id)',
  ])
  assert.equal(ran.stdout, "root\nsheep\n[a'b][$(id)]", ran.stderr)
  assert.equal(ran.status, 9)
})

test('facts come in one look', within, async () => {
  const one = await lab()
  const ran = croft(one, ['facts', 'duck', '--dir', declared(one), '-o', 'json'])
  assert.equal(ran.status, 0, ran.stderr)
  const facts = JSON.parse(ran.stdout) as {
    hostname: string
    os: string
    cpus: number
    memoryMb: number
    nics: { name: string; addresses: string[] }[]
  }
  assert.equal(facts.hostname, 'duck')
  assert.match(facts.os, /^Debian GNU\/Linux 12/)
  assert.ok(facts.cpus >= 1 && facts.memoryMb > 100)
  assert.deepEqual(facts.nics.find((nic) => nic.name === 'eth0')?.addresses[0], '10.77.0.4/24')
})

test('a host that knows only passwords is enrolled: key in, passwords out, manifest printed', within, async () => {
  const one = await lab()
  const duck = one.hosts[2]
  assert.ok(duck)
  rmSync(join(duck.root, 'home/k3s/.ssh'), { recursive: true, force: true })
  writeFileSync(join(duck.root, 'etc/sudoers.d/k3s'), 'k3s ALL=(ALL:ALL) ALL\n', { mode: 0o440 })
  const words = [
    'enroll',
    'duck',
    '--address',
    duck.address,
    '--user',
    'k3s',
    '--key',
    join(one.directory, 'enrolled'),
    '--password-env',
    'PW',
  ]
  const unconfirmed = croft(one, words, { PW: 'let-me-in' })
  assert.equal(unconfirmed.status, 1, '[S-05] a key that nobody compared is not trusted')
  assert.match(unconfirmed.stderr, /was not confirmed, so nothing was sent/)
  const sshdConfig = join(duck.root, 'etc/ssh/sshd_config')
  const whole = readFileSync(sshdConfig, 'utf8')
  writeFileSync(sshdConfig, whole.replace(/^Include .*$/m, ''))
  const deaf = croft(one, [...words, '--host-key', duck.hostKey], { PW: 'let-me-in' })
  assert.equal(deaf.status, 1, 'nobody is told that passwords are closed when they are not')
  assert.match(deaf.stderr, /so it still takes passwords/)
  writeFileSync(sshdConfig, whole)
  const wrong = croft(one, [...words, '--host-key', duck.hostKey], { PW: 'wrong' })
  assert.equal(wrong.status, 4, wrong.stderr)
  const ran = croft(one, [...words, '--host-key', duck.hostKey], { PW: 'let-me-in' })
  assert.equal(ran.status, 0, ran.stderr)
  assert.ok(!`${ran.stdout}${ran.stderr}`.includes('let-me-in'))
  const { declarations, problems } = readText(ran.stdout)
  assert.deepEqual(
    problems.filter((problem) => problem.severity === 'error'),
    [],
  )
  assert.equal(declarations[0]?.name, 'duck')
  assert.match(readFileSync(join(duck.root, 'home/k3s/.ssh/authorized_keys'), 'utf8'), /^ssh-ed25519 .* croft@duck\n$/)
  assert.match(
    readFileSync(join(duck.root, 'etc/ssh/sshd_config.d/00-croft.conf'), 'utf8'),
    /^PasswordAuthentication no$/m,
  )
  const again = croft(one, [...words, '--host-key', duck.hostKey], { PW: 'let-me-in' })
  assert.equal(again.status, 4, 'passwords are no longer taken')
})

test('[A59] on the host that croft runs on, operations run here and no ssh is started', {
  timeout: within.timeout,
}, () => {
  mkdirSync(join(local, 'git'))
  writeFileSync(
    join(local, 'git', 'host.yaml'),
    'apiVersion: croft.dev/v1alpha1\nkind: Host\nmetadata: {name: here}\nspec: {local: true}\n',
  )
  // There is no ssh on this path: starting one would fail.
  const env = { PATH: dirnameOf(process.execPath), HOME: local, XDG_STATE_HOME: local, XDG_CACHE_HOME: local }
  const ran = spawnSync(
    process.execPath,
    [
      CROFT,
      'host',
      'run',
      'here',
      '--dir',
      join(local, 'git'),
      '--',
      'sh',
      '-c',
      'echo $PPID >"$1"; id -u',
      'sh',
      join(local, 'ran'),
    ],
    { encoding: 'utf8', timeout: 200_000, env },
  )
  assert.equal(ran.stdout, `${process.getuid?.()}\n`, ran.stderr)
  assert.ok(existsSync(join(local, 'ran')))
})

test('a sleeping host is woken by a real packet', { timeout: within.timeout }, async () => {
  const socket = createSocket('udp4')
  try {
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const packets: Buffer[] = []
    socket.on('message', (packet) => packets.push(packet))
    const git = join(local, 'wake')
    mkdirSync(git)
    writeFileSync(
      join(git, 'host.yaml'),
      `apiVersion: croft.dev/v1alpha1\nkind: Host\nmetadata: {name: duck}\nspec: {wake: {mac: "6C:4B:90:00:00:04", broadcast: 127.0.0.1, port: ${socket.address().port}}}\n`,
    )
    const { spawn } = await import('node:child_process')
    const child = spawn(process.execPath, [CROFT, 'host', 'wake', 'duck', '--dir', git], {
      env: { PATH: process.env.PATH, HOME: local, XDG_STATE_HOME: local, XDG_CACHE_HOME: local },
      stdio: 'ignore',
    })
    const code = await new Promise((resolve) => child.once('exit', resolve))
    assert.equal(code, 0)
    // All were sent when it ended; this process may not have had a turn to take them.
    while (packets.length < 3) await new Promise((resolve) => socket.once('message', resolve))
    assert.equal(packets.length, 3)
    assert.equal(packets[0]?.length, 102)
  } finally {
    socket.close()
  }
})

function dirnameOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}
