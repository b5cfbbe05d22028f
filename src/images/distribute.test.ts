import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Ran, Shell } from '../lib/shell.ts'
import { distributeImage } from './distribute.ts'

/** A computer with files and a pool, and the few programs that bringing an image needs. */
function computer(files: Map<string, Buffer>, damage?: (bytes: Buffer) => Buffer): Shell & { readonly ran: string[] } {
  const ran: string[] = []
  const done = (stdout = ''): Ran => ({ code: 0, stdout, stderr: '' })
  const put = (path: string, bytes: Buffer): Ran => {
    files.set(path, bytes)
    return done()
  }
  const missing: Ran = { code: 1, stdout: '', stderr: 'No such file or directory' }
  const programs: Record<string, (argv: readonly string[], input: Buffer) => Ran> = {
    env: (argv) => done(argv.includes('pool-dumpxml') ? '<pool><target>\n<path>/pool</path></target></pool>' : ''),
    stat: (argv) => (files.has(argv.at(-1) ?? '') ? done(String(files.get(argv.at(-1) ?? '')?.length)) : missing),
    sha256sum: (argv) =>
      done(
        `${createHash('sha256')
          .update(files.get(argv.at(-1) ?? '') ?? '')
          .digest('hex')}  x`,
      ),
    install: (argv) => put(argv.at(-1) ?? '', Buffer.alloc(0)),
    chmod: () => done(),
    find: () => done(),
    rm: (argv) => {
      files.delete(argv.at(-1) ?? '')
      return done()
    },
    cp: (argv) => put(argv.at(-1) ?? '', files.get(argv.at(-2) ?? '') ?? Buffer.alloc(0)),
    mv: (argv) => {
      files.set(argv.at(-1) ?? '', files.get(argv.at(-2) ?? '') ?? Buffer.alloc(0))
      files.delete(argv.at(-2) ?? '')
      return done()
    },
    sh: (argv) => {
      const [path = '', at = '0', size = '0'] = argv.slice(-3)
      const from = Number(at) * Number(size)
      return done((files.get(path) ?? Buffer.alloc(0)).subarray(from, from + Number(size)).toString('base64'))
    },
    dd: (argv, input) => {
      const path = argv.find((word) => word.startsWith('of='))?.slice(3) ?? ''
      files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), damage?.(input) ?? input]))
      return done()
    },
  }
  return {
    ran,
    run: (argv, { input = '' } = {}) => {
      ran.push(argv.join(' '))
      return Promise.resolve(programs[argv[0] ?? '']?.(argv, Buffer.from(input)) ?? missing)
    },
    readFile: () => Promise.resolve(undefined),
    writeFile: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

const IMAGE = Buffer.alloc(20 * 1024 * 1024, 'croft')
const sha256 = createHash('sha256').update(IMAGE).digest('hex')
const way = (from: Shell, to: Shell, run = 'one') => ({
  run,
  from,
  to,
  path: '/cache/x.qcow2',
  sha256,
  bytes: IMAGE.length,
  uri: 'qemu:///system',
  pool: 'default',
  fileName: 'x.qcow2',
  signal: new AbortController().signal,
  keptBy: () => Promise.resolve<string | undefined>(undefined),
})

test('an image comes to another computer in pieces, whole, and only once', async () => {
  const files = new Map<string, Buffer>()
  const from = computer(new Map([['/cache/x.qcow2', IMAGE]]))
  const to = computer(files)
  assert.equal(await distributeImage(way(from, to)), 'copied')
  assert.deepEqual([...files.keys()], ['/pool/x.qcow2'])
  assert.ok(files.get('/pool/x.qcow2')?.equals(IMAGE))
  const writes = to.ran.filter((line) => line.startsWith('dd')).length
  assert.equal(writes, 3)
  assert.equal(await distributeImage(way(from, to)), 'there')
  assert.equal(to.ran.filter((line) => line.startsWith('dd')).length, writes)
})

test('on the computer that made it, it is only copied', async () => {
  const files = new Map([['/cache/x.qcow2', IMAGE]])
  const here = computer(files)
  assert.equal(await distributeImage(way(here, here)), 'copied')
  assert.ok(!here.ran.some((line) => line.startsWith('dd')))
})

test('what arrives damaged never gets its name', async () => {
  const files = new Map<string, Buffer>()
  const to = computer(files, (bytes) => Buffer.concat([bytes, Buffer.from('x')]))
  const from = computer(new Map([['/cache/x.qcow2', IMAGE]]))
  await assert.rejects(distributeImage(way(from, to)), /did not arrive whole/)
  assert.ok(!files.has('/pool/x.qcow2'))
})

test('an image on which disks of machines stand keeps its content, also where one was made while the new one came', async () => {
  const from = computer(new Map([['/cache/x.qcow2', IMAGE]]))
  const january = Buffer.from('the image of January')
  for (const looks of [1, 2]) {
    const to = computer(new Map([['/pool/x.qcow2', january]]))
    let looked = 0
    const keptBy = () => Promise.resolve(++looked < looks ? undefined : 'the disk default:web stands on it')
    await assert.rejects(distributeImage({ ...way(from, to), keptBy }), /the disk default:web stands on it/)
    assert.equal(looked, looks)
    assert.ok(!to.ran.some((line) => line.startsWith('mv ')))
  }
  const files = new Map([['/pool/x.qcow2', january]])
  assert.equal(await distributeImage(way(from, computer(files))), 'copied')
  assert.ok(files.get('/pool/x.qcow2')?.equals(IMAGE))
})

test('a second transfer of the same image takes nothing from the first, and a failed one leaves no part', async () => {
  const files = new Map<string, Buffer>()
  const from = computer(new Map([['/cache/x.qcow2', IMAGE]]))
  const to = computer(files)
  // The second begins when the first is about to give the image its name, and is cut off at once.
  let looked = 0
  const keptBy = async () => {
    if (++looked === 2) {
      const silent: Shell = { ...from, run: () => Promise.reject(new Error('cut off')) }
      await assert.rejects(distributeImage(way(silent, to, 'two')), /cut off/)
    }
    return undefined
  }
  files.set('/pool/x.qcow2', Buffer.from('older'))
  assert.equal(await distributeImage({ ...way(from, to), keptBy }), 'copied')
  assert.ok(files.get('/pool/x.qcow2')?.equals(IMAGE))
  assert.deepEqual([...files.keys()], ['/pool/x.qcow2'])
})
