import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type RunningSimulator, startSimulator } from '../sim/serve.ts'
import { uploadImage } from '../src/cli/verbs/image/upload.ts'
import type { Session } from '../src/drivers/port.ts'
import { openSession } from '../src/drivers/proxmox/session.ts'
import { EXAMPLE_CONNECTION } from '../src/drivers/proxmox/testing/vm-example.ts'
import { systemClock } from '../src/lib/clock.ts'
import { seededRandom } from '../src/lib/random.ts'
import type { Ran, Shell } from '../src/lib/shell.ts'
import { openTlsWire } from '../src/lib/tls-wire.ts'
import type { FileSpec } from '../src/model/file.ts'
import { Secret } from '../src/model/secret.ts'

// Begins as an image of that format does: the host looks at it.
const IMAGE = Buffer.concat([Buffer.from('QFI\u00fb', 'latin1'), Buffer.alloc(17 * 1024 * 1024 + 1, 'croft image')])
const BUILT = { path: '/images/a.qcow2', sha256: createHash('sha256').update(IMAGE).digest('hex'), bytes: IMAGE.length }
const HOST = 'still-fawn'
const FILE: FileSpec = {
  host: HOST,
  storage: 'local',
  content: 'import',
  fileName: 'a.qcow2',
  url: 'build:a',
  overwrite: false,
}
const WAY = { clock: systemClock, signal: new AbortController().signal }

/** The computer that the image was built on, with what was noted beside it. */
function builder(bytes: Buffer = IMAGE): Shell {
  let notes = ''
  const done = (stdout = '', code = 0): Ran => ({ code, stdout, stderr: '' })
  return {
    run: (argv) => {
      if (argv[0] === 'grep') return Promise.resolve(done('', notes.includes(`${argv[3]}\n`) ? 0 : 1))
      if (argv[2]?.startsWith('printf') === true) {
        notes += `${argv[4]}\n`
        return Promise.resolve(done())
      }
      const [, at = '0', size = '0'] = argv.slice(-3)
      const from = Number(at) * Number(size)
      return Promise.resolve(done(bytes.subarray(from, from + Number(size)).toString('base64')))
    },
    readFile: () => Promise.resolve(undefined),
    writeFile: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

let simulator: RunningSimulator
let session: Session
before(async () => {
  simulator = await startSimulator({ preset: 'homelab', port: 0, speed: 50, seed: 5 })
  session = openSession(EXAMPLE_CONNECTION, {
    clock: systemClock,
    random: seededRandom(1),
    openWire: () =>
      openTlsWire({
        endpoint: simulator.endpoint,
        fingerprint: simulator.fingerprint,
        maxSockets: 2,
        timeouts: { connectMs: 10_000, requestMs: 20_000 },
      }),
    resolveSecret: () => Promise.resolve(new Secret(simulator.token)),
  })
})
after(async () => {
  await session.close()
  await simulator.close()
})

const put = (file: FileSpec, from: Shell, built = BUILT) =>
  uploadImage({ file, list: `files/${file.host}/${file.storage}` }, built, from, session, WAY)

test('a built image goes to a storage of Proxmox over its API, is checked there, and goes once', async () => {
  const from = builder()
  assert.equal(await put(FILE, from), 'uploaded')
  const listed = await session.list(`files/${HOST}/local`, WAY.signal)
  const found = listed.find(({ externalId }) => externalId === 'local:import/a.qcow2')
  assert.equal(found?.close?.config.size, IMAGE.length)
  assert.equal(await put(FILE, from), 'there')
})

test('a file of that name that nobody noted is replaced only where the declaration says so', async () => {
  await assert.rejects(put(FILE, builder()), /local:import\/a\.qcow2 on still-fawn is there .* replace: true/)
  assert.equal(await put({ ...FILE, overwrite: true }, builder()), 'uploaded')
})

test('what arrives damaged is not put in place, and nothing notes it', async () => {
  const from = builder(Buffer.alloc(IMAGE.length, 'x'))
  const file = { ...FILE, fileName: 'b.qcow2' }
  await assert.rejects(put(file, from), /b\.qcow2 on still-fawn was not put in place: .*checksum mismatch/)
  const listed = await session.list(`files/${HOST}/local`, WAY.signal)
  assert.ok(!listed.some(({ externalId }) => externalId.includes('b.qcow2')))
})

test('a file that is shorter than it was said to be ends the upload, and so does a storage that takes no images', async () => {
  const file = { ...FILE, fileName: 'c.qcow2' }
  await assert.rejects(put(file, builder(IMAGE.subarray(0, 1000))), /another length/)
  await assert.rejects(put({ ...file, storage: 'nowhere' }, builder()), /nowhere/)
})
