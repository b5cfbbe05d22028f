import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { verifyImage } from '../../src/images/build.ts'
import { CLEAN_RULES } from '../../src/images/cleanliness.ts'
import { TRACES } from '../../src/images/testing/traces.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { openLocalShell } from '../../src/ssh/local-shell.ts'
import { run } from './processes.ts'

/** A finished disk image of a machine that was in use: every rule finds what it left behind. */
export async function refuseDirtyImage(scratch: string): Promise<void> {
  const at = (name: string) => join(scratch, 'dirty', name)
  for (const path of Object.values(TRACES).flat()) {
    mkdirSync(dirname(at(`root/${path}`)), { recursive: true })
    writeFileSync(at(`root/${path}`), 'left behind\n')
  }
  run('mke2fs', '-q', '-t', 'ext4', '-d', at('root'), at('root.ext4'), '30M')
  run('truncate', '-s', '32M', at('disk.raw'))
  writeFileSync(at('table'), 'label: gpt\nstart=2048, size=61440, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4\n')
  run('sh', '-c', 'sfdisk --quiet --no-reread "$1" <"$2"', 'croft', at('disk.raw'), at('table'))
  run('dd', `if=${at('root.ext4')}`, `of=${at('disk.raw')}`, 'bs=1M', 'seek=1', 'conv=notrunc', 'status=none')
  run('qemu-img', 'convert', '-O', 'qcow2', at('disk.raw'), at('image.qcow2'))
  const shell = openLocalShell({
    name: 'here',
    env: process.env,
    become: 'none',
    clock: systemClock,
    random: seededRandom(1),
  })
  const residues = await verifyImage(at('image.qcow2'), shell, AbortSignal.timeout(240_000))
  assert.deepEqual([...new Set(residues.map(({ rule }) => rule))].sort(), [...CLEAN_RULES].sort())
}
