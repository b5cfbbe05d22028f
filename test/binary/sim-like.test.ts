import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, scratch, start, startSimulator } from './children.ts'

after(endAll)

const EXAMPLES = path.join(import.meta.dirname, '../../examples')

interface State {
  readonly guests: readonly { readonly vmid: number }[]
  readonly hosts: readonly { readonly name: string }[]
}

/** A simulator like an example, and croft on the copy of the manifests that it wrote. */
async function rehearsalOf(example: string) {
  const cwd = scratch()
  const args = ['--like', path.join(EXAMPLES, example), '--write', 'copy', '--speed', '50']
  const simulator = await startSimulator(args, cwd)
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  return { cwd, simulator, ended: (...words: string[]) => start(words, { cwd, env }).ended }
}

test('plan of a directory finds every host, storage, bridge and device of the site that was made like it', async () => {
  const { cwd, simulator, ended } = await rehearsalOf('k3s-proxmox')
  const { hosts, guests } = await simulator.door<State>('GET', 'state')
  assert.deepEqual(hosts.map(({ name }) => name).sort(), ['fun-bedbug', 'pumped-piglet', 'still-fawn'])
  assert.deepEqual(guests, [], 'what the manifests make is not there')
  const { code, stdout, stderr } = await ended('plan', 'copy')
  assert.equal(code, 2, stdout + stderr)
  // A host, bridge or storage that is not there would hold or refuse a machine, and the counts would be others.
  assert.match(stdout, /^Plan: 9 to add, 0 to change, 0 to destroy\. Disruption: none\. Nodes: 5 to join\.$/m)
  assert.match(readFileSync(path.join(cwd, 'copy/sim.env'), 'utf8'), /^export HTTPS_PROXY='?http:\/\/127\.0\.0\.1:/m)
})

test('machines that are taken over are there, and apply of the copy comes to its end', async () => {
  const { simulator, ended } = await rehearsalOf('homelab')
  const { stdout, stderr } = await ended('apply', '--yes', '--timeout', '240s', 'copy')
  assert.match(stdout, /Apply complete!/, stdout + stderr)
  assert.match(stdout, /2 adopted/)
  const { guests } = await simulator.door<State>('GET', 'state')
  assert.deepEqual(
    guests.map(({ vmid }) => vmid).sort((a, b) => a - b),
    [108, 109, 114],
  )
})

test('what --like cannot be like is refused with its place, and nothing is written', async () => {
  const cwd = scratch()
  const env = { HOME: path.join(cwd, 'home') }
  const ended = (...words: string[]) => start(['sim', '--port', '0', ...words], { cwd, env }).ended
  writeFileSync(path.join(cwd, 'site.yaml'), 'hosts:\n  - name: pve1\n    bridge: vmbr0\n')
  const file = await ended('--like', 'site.yaml')
  assert.equal(file.code, 1)
  assert.match(file.stderr, /site\.yaml:3:5 /)
  mkdirSync(path.join(cwd, 'infra'))
  writeFileSync(
    path.join(cwd, 'infra/web.yaml'),
    'apiVersion: croft.dev/v1alpha1\nkind: Host\nmetadata: {name: a}\nspec: {x: 1}\n',
  )
  const manifests = await ended('--like', 'infra', '--write', 'copy')
  assert.equal(manifests.code, 1)
  assert.match(manifests.stderr, /infra\/web\.yaml:4:/)
  const real = await ended('--like', path.join(EXAMPLES, 'k3s-libvirt'), '--write', 'copy')
  assert.match(real.stderr, /There is no Proxmox connection in /)
  assert.ok(!existsSync(path.join(cwd, 'copy')))
})
