import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { diskSteps } from './disk-layout.ts'

/** Makes a fresh tree, dated independently of the clock, and its file system. */
function rootFileSystem(name: string): string {
  const work = mkdtempSync(join(tmpdir(), `croft-disk-${name}-`))
  try {
    const root = join(work, 'root')
    mkdirSync(join(root, 'etc/deep'), { recursive: true })
    for (let at = 0; at < 40; at++) writeFileSync(join(root, 'etc/deep', `file-${at}`), `content ${at}\n`)
    symlinkSync('deep/file-1', join(root, 'etc/link'))
    // The kernel notes this change; nothing can set that time back.
    chmodSync(join(root, 'etc/deep/file-3'), 0o600)
    const disk = { work, root, architecture: 'amd64', sizeMb: 128, epoch: 1_760_000_000, inputs: 'x' } as const
    for (const { summary, argv } of diskSteps(disk)) {
      if (summary === 'write what GRUB reads first') break
      const [command = '', ...args] = argv
      const ran = spawnSync(command, args, {
        encoding: 'utf8',
        env: { ...process.env, PATH: `${process.env.PATH}:/sbin:/usr/sbin` },
      })
      assert.equal(ran.status, 0, `${summary}: ${ran.stderr}`)
    }
    return createHash('sha256')
      .update(readFileSync(join(work, 'root.ext4')))
      .digest('hex')
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

test('the same tree gives the same file system, byte for byte, whenever it is made', () => {
  const first = rootFileSystem('first')
  // Times in a file system are whole seconds here.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100)
  assert.equal(rootFileSystem('second'), first)
})
