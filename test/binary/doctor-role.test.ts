import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, scratch, start } from './children.ts'

after(endAll)

const CLUSTER = path.join(import.meta.dirname, '../../examples/k3s-proxmox')

async function roleOf(...more: readonly string[]): Promise<string> {
  const told = await start(['doctor', CLUSTER, '--role', ...more], { cwd: scratch(), env: {} }).ended
  assert.equal(told.code, 0, told.stderr)
  return told.stdout
}

test('[D-08] the role for a cluster lets programs run in its nodes, and its storages be seen', async () => {
  const nine = await roleOf()
  assert.match(nine, /VM\.GuestAgent\.Unrestricted/)
  assert.match(nine, /Datastore\.Audit/)
  const eight = await roleOf('--pve', '8')
  assert.match(eight, /VM\.Monitor/)
  assert.doesNotMatch(eight, /GuestAgent/)
})
