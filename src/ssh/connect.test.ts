import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { seededRandom } from '../lib/random.ts'
import { ShellFailure } from '../lib/shell.ts'
import { Secret, type SshTarget } from '../model/secret.ts'
import { keyFingerprint } from './config.ts'
import { createShells } from './open.ts'
import { freePort, type RealSshd, sshdMissing, startSshd } from './testing/sshd.ts'

const skip = sshdMissing() ?? false
const shells = createShells({
  env: { PATH: process.env.PATH, HOME: '/nonexistent' },
  clock: systemClock,
  random: seededRandom(3),
  resolveSecret: async (reference) =>
    new Secret('env' in reference && secrets[reference.env] !== undefined ? (secrets[reference.env] ?? '') : 'wrong'),
})
const secrets: Record<string, string> = {}
let running: RealSshd | undefined
async function sshd(): Promise<RealSshd> {
  running ??= await startSshd()
  secrets.KEY = readFileSync(running.privateKeyFile, 'utf8')
  return running
}
after(async () => {
  await shells.close()
  await running?.stop()
})

async function failureOf(target: SshTarget): Promise<ShellFailure> {
  const shell = shells.open(target)
  try {
    await shell.run(['true'])
  } catch (error) {
    assert.ok(error instanceof ShellFailure, String(error))
    return error
  } finally {
    await shell.close()
  }
  assert.fail('it connected')
}

const OTHER = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'

test('[S-05] a host key other than the pinned one is refused, and both are shown', { skip }, async () => {
  const real = await sshd()
  const failure = await failureOf(real.target({ hostKeys: [OTHER] }))
  assert.deepEqual([failure.ran, failure.code], ['no', 'host-key'])
  assert.ok(failure.message.includes(keyFingerprint(real.hostKey)), failure.message)
  assert.ok(failure.message.includes(keyFingerprint(OTHER)), failure.message)
})

test('[S-05] an unknown type of key is refused as well, and so is a host without a pinned key', { skip }, async () => {
  const real = await sshd()
  const rsa = `ssh-rsa ${Buffer.concat([Buffer.from([0, 0, 0, 7]), Buffer.from('ssh-rsa'), Buffer.from([0, 0, 0, 3, 1, 0, 1, 0, 0, 1, 1]), Buffer.alloc(256, 7)]).toString('base64')}`
  assert.equal((await failureOf(real.target({ hostKeys: [rsa] }))).code, 'host-key')
  assert.equal((await failureOf(real.target({ hostKeys: [] }))).code, 'host-key')
})

test('a key that is a secret goes through an agent of our own and into no file', { skip }, async (t) => {
  const real = await sshd()
  // Other tests make such directories too, at the same time.
  const { TMPDIR } = process.env
  const own = mkdtempSync(join(tmpdir(), 'croft-own-'))
  process.env.TMPDIR = own
  t.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    rmSync(own, { recursive: true })
  })
  const shell = shells.open(real.target({ key: { env: 'KEY' } }))
  assert.equal((await shell.run(['echo', 'in'])).stdout, 'in\n')
  const made = readdirSync(own)
  assert.equal(made.length, 1)
  const directory = join(own, made[0] ?? '')
  assert.equal(statSync(directory).mode & 0o777, 0o700)
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    if (statSync(path).isFile()) assert.ok(!readFileSync(path, 'utf8').includes('PRIVATE KEY'), name)
  }
  await shell.close()
  assert.deepEqual(readdirSync(own), [])
})

test('a wrong key, a wrong password of a key and a closed port each say what they are', { skip }, async () => {
  const real = await sshd()
  const denied = await failureOf(real.target({ key: { file: join(real.directory, 'host') } }))
  assert.deepEqual([denied.ran, denied.code], ['no', 'denied'])
  assert.equal((await failureOf(real.target({ key: { env: 'NOTHING' } }))).code, 'bad-key')
  const closed = await failureOf(real.target({ port: await freePort() }))
  assert.deepEqual([closed.ran, closed.code], ['no', 'unreachable'])
})

test('a jump host is on the way, and its key is pinned like any other', { skip }, async () => {
  const real = await sshd()
  const second = await startSshd()
  try {
    const shell = shells.open(second.target({ name: 'inner', jump: real.target({ name: 'jump' }) }))
    assert.equal(
      (await shell.run(['sh', '-c', 'echo $SSH_CONNECTION | cut -d" " -f4'])).stdout.trim(),
      String(second.port),
    )
    await shell.close()
    const wrong = await failureOf(
      second.target({ name: 'inner', jump: real.target({ name: 'jump', hostKeys: [OTHER] }) }),
    )
    assert.equal(wrong.code, 'host-key')
    assert.ok(wrong.message.startsWith('jump shows'), wrong.message)
  } finally {
    await second.stop()
  }
})

test('a connection that ended is made anew, and a program that was cut off may have run', { skip }, async () => {
  const real = await startSshd()
  const shell = shells.open(real.target())
  try {
    assert.equal((await shell.run(['echo', 'one'])).stdout, 'one\n')
    const cut = await shell
      .run(['sh', '-c', 'kill -9 $(ps -o ppid= -p $(ps -o ppid= -p $PPID)); sleep 5'])
      .catch((error: unknown) => error)
    assert.ok(cut instanceof ShellFailure, JSON.stringify(cut))
    assert.equal(cut.ran, 'maybe')
    assert.equal((await shell.run(['echo', 'two'])).stdout, 'two\n')
  } finally {
    await shell.close()
    await real.stop()
  }
})

test('[S-50] a host whose key changes under a run is refused from then on, though it lets everybody in', {
  skip,
}, async () => {
  const [real, other] = [await startSshd(), await startSshd()]
  // The impostor accepts people's keys too: public keys are no secret.
  writeFileSync(join(other.directory, 'authorized'), readFileSync(`${real.privateKeyFile}.pub`))
  let to = real.port
  const open = new Set<Socket>()
  const relay = createServer((socket) => {
    const through = connect(to, '127.0.0.1')
    for (const one of [socket, through]) {
      open.add(one)
      one.on('error', () => one.destroy())
    }
    socket.pipe(through).pipe(socket)
  })
  await new Promise<void>((done) => relay.listen(0, '127.0.0.1', done))
  const shell = shells.open(real.target({ port: (relay.address() as AddressInfo).port }))
  const ran = join(other.directory, 'ran')
  try {
    assert.equal((await shell.run(['echo', 'one'])).stdout, 'one\n')
    to = other.port
    for (const one of open) one.destroy()
    for (let tries = 0; tries < 2; tries++) {
      const failure = await shell.run(['touch', ran]).catch((error: unknown) => error)
      assert.ok(failure instanceof ShellFailure, JSON.stringify(failure))
      // The first command may still use the closed connection.
      if (failure.code === 'host-key') {
        assert.equal(failure.ran, 'no')
        assert.ok(failure.message.includes(keyFingerprint(other.hostKey)), failure.message)
      } else assert.equal(tries, 0, failure.message)
    }
    assert.ok(!existsSync(ran), 'nothing runs on the other host')
    // With the right key again, it continues.
    to = real.port
    assert.equal((await shell.run(['echo', 'two'])).stdout, 'two\n')
  } finally {
    await shell.close()
    for (const one of open) one.destroy()
    await new Promise<void>((done) => relay.close(() => done()))
    await Promise.all([real.stop(), other.stop()])
  }
})

test('[S-01] what would be a line of configuration is refused before ssh is started', async () => {
  const base: SshTarget = { name: 'x', address: '127.0.0.1', port: 22, user: 'root', hostKeys: [OTHER], sudo: 'none' }
  const hostile: Partial<SshTarget>[] = [
    { address: '-oProxyCommand=touch /tmp/p' },
    { address: 'a\nProxyCommand touch /tmp/p' },
    { user: 'root\nProxyCommand x' },
    { user: '-x' },
    { port: 22.5 },
    { hostKeys: [`${OTHER}\n* ssh-rsa AAAA`] },
    { key: { file: '/a"\nProxyCommand x' } },
  ]
  for (const one of hostile)
    assert.equal((await failureOf({ ...base, ...one })).code, 'bad-target', JSON.stringify(one))
})
