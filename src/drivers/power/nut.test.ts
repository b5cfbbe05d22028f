import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../lib/clock.ts'
import { Secret } from '../../model/secret.ts'
import { createPowerDriver } from './driver.ts'
import { exchangeLines } from './line-exchange.ts'
import { readUps, upsAddress } from './nut.ts'

const driver = createPowerDriver({
  clock: systemClock,
  sendDatagram: async () => {},
  exchangeLines,
  resolveSecret: async () => new Secret(''),
})
const signal = new AbortController().signal

test('the answers of a UPS are read, and nothing is believed that was not said', () => {
  const line = (name: string, value: string) => `VAR rack ${name} "${value}"`
  assert.deepEqual(
    readUps([line('ups.status', 'OB DISCHRG'), line('battery.charge', '39'), line('ups.realpower', '210')]),
    {
      onBattery: true,
      low: false,
      charge: 39,
      watts: 210,
    },
  )
  assert.deepEqual(readUps([line('ups.status', 'OB LB'), 'ERR VAR-NOT-SUPPORTED']), {
    onBattery: true,
    low: true,
    charge: 100,
  })
  for (const unsaid of ['', ' ', 'n/a', '-1'])
    assert.equal(readUps([line('ups.status', 'OB DISCHRG'), line('battery.charge', unsaid)])?.charge, 100, unsaid)
  assert.deepEqual(readUps([line('ups.status', 'OL CHRG'), line('battery.charge', '12')]), {
    onBattery: false,
    low: false,
    charge: 12,
  })
  // The primary has ordered the power-off: it cuts the power next, even if the mains have returned.
  for (const status of ['FSD OL', 'FSD OB DISCHRG', 'FSD'])
    assert.deepEqual(readUps([line('ups.status', status), line('battery.charge', '60')]), {
      onBattery: true,
      low: true,
      charge: 60,
    })
  assert.deepEqual(readUps([line('ups.status', 'OL CHRG LB'), line('battery.charge', '5')]), {
    onBattery: false,
    low: true,
    charge: 5,
  })
  assert.equal(readUps(['ERR DATA-STALE', 'ERR DATA-STALE']), undefined)
})

test('a UPS is named with its server and its port', () => {
  assert.deepEqual(upsAddress('rack@192.168.4.2'), { ups: 'rack', host: '192.168.4.2', port: 3493 })
  assert.deepEqual(upsAddress('rack@nut.home:3494'), { ups: 'rack', host: 'nut.home', port: 3494 })
  assert.deepEqual(upsAddress('rack'), { ups: 'rack', host: 'localhost', port: 3493 })
  assert.deepEqual(upsAddress('rack@fd00::2'), { ups: 'rack', host: 'fd00::2', port: 3493 })
})

test('a server that is not there, or says nothing, is no reading', async () => {
  assert.equal(await driver.readUps('rack@127.0.0.1:1', signal), undefined)
  const mute = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => mute.once('listening', resolve))
  const { port } = mute.address() as { port: number }
  const stop = AbortSignal.timeout(200)
  await assert.rejects(exchangeLines('127.0.0.1', port, ['GET VAR rack ups.status'], stop))
  mute.close()
})

const DRIVERS = ['/lib/nut', '/usr/lib/nut', '/usr/libexec/nut'].find((place) => existsSync(`${place}/dummy-ups`))
/** Debian's upsd is a script that first reads /etc/nut/nut.conf. */
const SERVER = `${DRIVERS}/upsd`
const missing = existsSync(SERVER) ? '' : 'nut-server is not installed (upsd, dummy-ups)'
const skip = missing !== '' && process.env.CI === undefined ? missing : false

test('[A47] a real NUT server is understood: 39 %, 19 %, 9 % on battery, and mains again', { skip }, async () => {
  assert.equal(missing, '')
  const home = mkdtempSync(path.join(tmpdir(), 'croft-nut-'))
  const children: ChildProcess[] = []
  try {
    const port = await freePort()
    const state = path.join(home, 'state')
    mkdirSync(state, { mode: 0o700 })
    chmodSync(home, 0o755)
    const device = path.join(home, 'rack.dev')
    const say = (status: string, charge: number) =>
      writeFileSync(device, `ups.status: ${status}\nbattery.charge: ${charge}\nups.realpower: 180\n`)
    say('OL', 100)
    writeFileSync(
      path.join(home, 'ups.conf'),
      `[rack]\n  driver = dummy-ups\n  port = ${device}\n  mode = dummy-loop\n  pollinterval = 1\n`,
    )
    writeFileSync(path.join(home, 'upsd.conf'), `LISTEN 127.0.0.1 ${port}\nMAXAGE 15\n`, { mode: 0o640 })
    writeFileSync(path.join(home, 'upsd.users'), '', { mode: 0o640 })
    const env = { ...process.env, NUT_CONFPATH: home, NUT_STATEPATH: state, NUT_ALTPIDPATH: state }
    const start = (program: string, args: readonly string[]) => {
      const child = spawn(program, args, { env, stdio: 'ignore' })
      children.push(child)
    }
    const me = process.getuid?.() === 0 ? ['-u', 'root'] : []
    start(`${DRIVERS}/dummy-ups`, ['-a', 'rack', '-F', ...me])
    await pause(500)
    start(SERVER, ['-F', ...me])
    const until = async (want: (reading: Awaited<ReturnType<typeof driver.readUps>>) => boolean) => {
      let last: unknown
      for (let tries = 0; tries < 60; tries++) {
        const reading = await driver.readUps(`rack@127.0.0.1:${port}`, signal)
        if (want(reading)) return reading
        last = reading
        await pause(250)
      }
      assert.fail(`the server never said so; last ${JSON.stringify(last)}`)
    }
    assert.deepEqual(await until((one) => one?.charge === 100), {
      onBattery: false,
      low: false,
      charge: 100,
      watts: 180,
    })
    for (const charge of [39, 19, 9]) {
      say('OB DISCHRG', charge)
      assert.equal((await until((one) => one?.charge === charge))?.onBattery, true)
    }
    say('OL CHRG', 25)
    assert.equal((await until((one) => one?.charge === 25))?.onBattery, false)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  }
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
