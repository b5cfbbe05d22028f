import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, type Simulator, scratch, start, startSimulator } from './children.ts'

after(endAll)

const EXAMPLES = path.join(import.meta.dirname, '../../examples')

interface PlanJson {
  readonly actions: readonly { readonly key: string; readonly verb: string; readonly reason?: string }[]
}

/** A simulator like an example, and what `plan` of the copy that it wrote says. */
async function rehearsed(example: string): Promise<{ simulator: Simulator; stdout: string; stderr: string }> {
  const cwd = scratch()
  const simulator = await startSimulator(['--like', path.join(EXAMPLES, example), '--write', 'copy', '--speed', '50'], cwd)
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  const { code, stdout, stderr } = await start(['plan', 'copy'], { cwd, env }).ended
  assert.ok(code === 0 || code === 2, stdout + stderr)
  return { simulator, stdout, stderr }
}

test('plan of a directory finds every host, storage and bridge of the site that was made like it', async () => {
  const { stdout, stderr } = await rehearsed('machines')
  console.log(stdout + stderr)
  assert.equal(1, 1)
})
test('x', async () => {
  const { stdout, stderr } = await rehearsed('homelab')
  console.log(stdout + stderr)
})
test('y', async () => {
  const { stdout, stderr } = await rehearsed('k3s-proxmox')
  console.log(stdout + stderr)
})
test('z', async () => {
  const { stdout, stderr } = await rehearsed('settings')
  console.log(stdout + stderr)
})
